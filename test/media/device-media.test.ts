import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fetchAsPhone, rawRequest, slowDownload } from '#test/support/media/device-download.ts';
import { answerOf } from '#test/support/media/media-host.ts';
import { startMediaWorld } from '#test/support/media/media-team.ts';
import { jpegOf, png } from '#test/support/media/sample-files.ts';
import { claim, connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';

describe('GET /v1/device/media/:id/:filename (specification section 11.10)', () => {
  let id: string;
  let path: string;
  const world = given(() => startMediaWorld({ RATE_LIMITS: 'on' }));

  before(async () => {
    world.host.set('/menu.png', answerOf(200, png));
    id = await world.send('/menu.png');
    await world.settled(id);
    const poll = await world.number.wire.poll();
    path = String(poll.media);
    assert.equal(poll.id, id);
  });

  it('the phone can download the file of its message in flight any number of times, without a redirect', async () => {
    for (let asked = 0; asked < 2; asked += 1) {
      const file = await fetchAsPhone(world.number.wire, path);
      assert.deepEqual([file?.status, file?.type, file?.length], [200, 'image/png', png.length]);
      assert.ok(file?.bytes.equals(png));
    }
  });

  it('a download with a wrong token, device, message or name ends the connection without an answer', async () => {
    const other = await connectNumber(world.service, world.team);
    const stranger = await connectNumber(world.service, await world.service.newTeam());
    const { wire } = world.number;
    const waiting = await world.send('/menu.png', { to: '+14155550102' });
    await world.settled(waiting);
    for (const [what, caller, asked] of [
      ['no known token', { baseUrl: wire.baseUrl, token: 'dev_unknown' }, path],
      ['another device of the team', other.wire, path],
      ["another team's device", stranger.wire, path],
      ['a message that is not in flight', wire, path.replace(id, waiting)],
      ['no id', wire, path.replace(id, 'msg_x')],
      ['another name', wire, path.replace('menu.png', 'menu.jpg')],
    ] as const) {
      assert.equal(await rawRequest(caller, asked), '', what);
    }
    assert.equal((await fetchAsPhone(wire, path))?.status, 200);
  });

  it('a download beyond the token’s limit ends the connection, and a download in the next minute succeeds', async () => {
    const { wire } = world.number;
    let served = 0;
    while ((await fetchAsPhone(wire, path)) && served < 200) served += 1;
    assert.ok(served > 50 && served < 200, `${served} served`);
    assert.equal(await rawRequest(wire, path), '');
    world.service.clock.advance(61_000);
    assert.equal((await fetchAsPhone(wire, path))?.status, 200);
  });

  it('a new device of the number does not get the file of a message in flight at the old device', async () => {
    const phone = await connectNumber(world.service, world.team);
    const inFlight = await world.send('/menu.png', { from: phone.phoneNumber, to: '+14155550104' });
    await world.settled(inFlight);
    const asked = String((await phone.wire.poll()).media);
    const reconnected = await world.team.api.post(`/v1/numbers/${phone.numberId}/reconnect`);
    const successor = await claim(world.team.api, String(reconnected.json.setup_url));
    assert.equal(await rawRequest(successor, asked), '', 'before its first poll');
    assert.equal((await fetchAsPhone(phone.wire, asked))?.status, 200);
    await successor.poll();
    assert.equal(await rawRequest(successor, asked), '', 'after its first poll');
    assert.equal((await fetchAsPhone(phone.wire, asked))?.status, 200);
  });

  it('the file is not served after its message was reported as sent', async () => {
    await world.number.wire.poll({ last: id });
    assert.equal(await rawRequest(world.number.wire, path), '');
  });

  it('a phone that reads a file slowly does not delay other requests of its team (§8/team-concurrency)', async () => {
    const bytes = jpegOf(5_000_000);
    world.host.set('/large.jpg', answerOf(200, bytes));
    const phone = await connectNumber(world.service, world.team);
    const large = await world.send('/large.jpg', { from: phone.phoneNumber, to: '+14155550103' });
    await world.settled(large);
    const poll = await phone.wire.poll();
    const slow = await Promise.all([1, 2].map(() => slowDownload(phone.wire, String(poll.media))));
    for (let call = 0; call < 10; call += 1)
      assert.equal((await world.team.api.get('/v1/numbers')).status, 200);
    for (const reader of slow) reader.destroy();
    const file = await fetchAsPhone(phone.wire, String(poll.media));
    assert.ok(file?.bytes.equals(bytes));
  });
});
