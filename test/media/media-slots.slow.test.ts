import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answerOf, type MediaHost, startMediaHost } from '#test/support/media/media-host.ts';
import { type MediaWorld, startMediaWorld } from '#test/support/media/media-team.ts';
import { png } from '#test/support/media/sample-files.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { until } from '#test/support/service/until.ts';

describe('slots of media fetches (§3.2/media-slots)', () => {
  let world: MediaWorld;
  const hosts: MediaHost[] = [];

  before(async () => {
    world = await startMediaWorld();
    world.host.set('/quick.png', answerOf(200, png));
  });
  after(async () => {
    for (const host of hosts) await host.close();
    await world.close();
  });

  async function startHangingHost(): Promise<MediaHost> {
    const host = await startMediaHost();
    host.set('/hang.png', () => undefined);
    hosts.push(host);
    return host;
  }
  const untilRequested = (host: MediaHost, count: number) =>
    until('the host was asked', () => host.requests.length >= count);

  it('three hosts that hang fill 12 slots of a team without delaying a fourth host', async () => {
    const hanging = await Promise.all([1, 2, 3].map(() => startHangingHost()));
    let recipient = 10;
    for (const host of hanging) {
      for (let n = 0; n < 5; n += 1) {
        await world.send(host.url('/hang.png'), { to: `+141555502${recipient}` });
        recipient += 1;
      }
      await untilRequested(host, 4);
    }
    const quick = await world.send('/quick.png', { to: '+14155550130' });
    await world.settled(quick);
    const { phoneNumber, wire } = world.number;
    const text = await world.team.api.send({ from: phoneNumber, to: '+14155550131', content: 'Hello' });
    assert.equal((await wire.poll()).id, quick);
    assert.equal((await wire.poll({ last: quick })).id, text);
    await wire.poll({ last: text });
    assert.deepEqual(
      hanging.map((host) => host.requests.length),
      [4, 4, 4],
    );
  });

  it('eight teams with hanging hosts fill the process’s slots without delaying another team', async () => {
    const host = await startHangingHost();
    const teams = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const team = await world.service.newTeam();
        return { team, number: await connectNumber(world.service, team) };
      }),
    );
    const sendOf = async ({ team, number }: (typeof teams)[number], to: string, media_url: string) => {
      const body = { from: number.phoneNumber, to, content: 'Look', media_url };
      const answer = await team.api.post('/v1/messages/send', body);
      assert.equal(answer.status, 202, answer.text);
      return String(answer.json.id);
    };
    for (const team of teams) {
      for (let n = 0; n < 4; n += 1) await sendOf(team, `+141555503${n + 10}`, host.url('/hang.png'));
    }
    // The previous test's fetches still use 12 of the slots.
    await untilRequested(host, 20);
    const newcomer = await world.service.newTeam();
    const other = { team: newcomer, number: await connectNumber(world.service, newcomer) };
    const [first] = teams;
    assert.ok(first);
    for (const team of [other, first]) {
      const id = await sendOf(team, '+14155550132', world.host.url('/quick.png'));
      await world.settled(id);
      assert.equal((await team.number.wire.poll()).id, id);
    }
    assert.ok(host.requests.length <= 32);
  });
});
