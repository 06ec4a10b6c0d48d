import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { mediaChunkBytes } from '#server/media/limits.ts';
import { MediaWriter } from '#server/media/media-writer.ts';
import { mediaOriginsExaminedMax } from '#server/messages/limits.ts';
import {
  type ClaimedFetch,
  claimMediaFetches,
  lockCurrentFetch,
} from '#server/messages/media-fetch-store.ts';
import { removeEarlierTries } from '#server/messages/media-fetch-worker.ts';
import { startMediaWorld } from '#test/support/media/media-team.ts';
import { jpegOf } from '#test/support/media/sample-files.ts';
import { countStoredMedia } from '#test/support/media/stored-media.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';

const leaseMs = 60_000;

describe('a fetch that is claimed a second time', () => {
  let id: string;
  let first: ClaimedFetch;
  const world = given(() => startMediaWorld({ ROLES: 'api' }));
  beforeEach(async () => {
    id = await world.send('/menu.jpg');
    first = await claimed();
  });
  afterEach(() => world.team.api.post(`/v1/messages/${id}/cancel`));

  const claims = () => {
    const { clock, runtime } = world.service;
    const now = clock.now();
    const asked = { now, leasedUntil: clock.in(leaseMs, now), teamIds: [], origins: [] };
    return claimMediaFetches(runtime.database.pool, asked);
  };
  const claimed = async () => {
    const [fetch] = await claims();
    assert.ok(fetch);
    return fetch;
  };
  const claimedAgain = () => {
    world.service.clock.advance(leaseMs + 1);
    return claimed();
  };
  const storeChunk = async () => {
    const target = { teamId: first.team_id, messageId: first.message_id, wantedName: 'menu.jpg' };
    assert.ok(await new MediaWriter(world.service.runtime, target).write(jpegOf(mediaChunkBytes)));
  };
  const chunks = async () => (await countStoredMedia(world.service)).chunks;

  it('a second claim of a fetch removes what the first claim stored, and the first claim can remove nothing of the second', async () => {
    const before = await chunks();
    await storeChunk();
    const second = await claimedAgain();
    await removeEarlierTries(world.service.runtime, second);
    assert.equal(await chunks(), before);
    await storeChunk();
    await removeEarlierTries(world.service.runtime, first);
    assert.equal(await chunks(), before + 1);
  });

  it('a fetch whose lease has ended is not claimed while a transaction has locked it', async () => {
    await world.service.runtime.database.transaction(async (trx) => {
      assert.equal(await lockCurrentFetch(trx, first), true);
      world.service.clock.advance(leaseMs + 1);
      assert.deepEqual(await claims(), []);
    });
    assert.equal((await claims()).length, 1);
  });

  it('a process makes at most 32 fetches at a time, 12 of a team and 4 from an origin, with slots reserved for the first of each', async () => {
    const { service, team, number } = world;
    const { clock, runtime } = service;
    type Sender = Pick<typeof world, 'team' | 'number'>;
    const newSender = async (): Promise<Sender> => {
      const team = await service.newTeam();
      return { team, number: await connectNumber(service, team) };
    };
    const sent: (readonly [Sender, id: string])[] = [];
    const sendTo = async (port: number, count: number, from: Sender = { team, number }) => {
      for (let n = 0; n < count; n += 1) {
        const to = `+1415556${1_000 + sent.length}`;
        const media_url = `http://127.0.0.1:${port}/hang.png`;
        const body = { from: from.number.phoneNumber, to, content: 'Look', media_url };
        sent.push([from, String((await from.team.api.post('/v1/messages/send', body)).json.id)]);
      }
    };
    const running: ClaimedFetch[] = [];
    /** Claims until no further fetch may run. @returns the number of all running fetches */
    const claimAll = async () => {
      for (let before = -1; before !== running.length; ) {
        before = running.length;
        const [teamIds, origins] = [running.map((one) => one.team_id), running.map((one) => one.origin)];
        const asked = { now: clock.now(), leasedUntil: clock.in(leaseMs), teamIds, origins };
        running.push(...(await claimMediaFetches(runtime.database.pool, asked)));
      }
      return running.length;
    };
    for (const port of [2_001, 2_002, 2_003]) await sendTo(port, 5);
    assert.equal(await claimAll(), 12);
    for (const port of [2_001, 2_002, 2_003])
      assert.equal(running.filter(({ origin }) => origin.endsWith(`:${port}`)).length, 4);
    await sendTo(2_004, 2);
    assert.equal(await claimAll(), 13, 'the first from another origin');
    const others = await Promise.all(Array.from({ length: 8 }, newSender));
    for (const other of others) await sendTo(2_005, 4, other);
    assert.equal(await claimAll(), 32);
    await sendTo(2_006, 2, others[0]);
    assert.equal(await claimAll(), 33, 'the first from another origin');
    await sendTo(2_005, 2, await newSender());
    assert.equal(await claimAll(), 34, 'the first of another team');
    for (const [{ team: of }, id] of sent) await of.api.post(`/v1/messages/${id}/cancel`);
  });

  it('a fetch from the last of many origins is claimed, although fetches from all other origins wait', async () => {
    const ids: string[] = [];
    const sendTo = async (port: number) => {
      const to = `+1415555${port}`;
      ids.push(await world.send(`http://127.0.0.1:${port}/menu.jpg`, { to }));
    };
    for (let n = 0; n < mediaOriginsExaminedMax; n += 1) await sendTo(1_000 + n);
    for (let taken = 0; taken < mediaOriginsExaminedMax; ) {
      const round = await claims();
      assert.ok(round.length > 0);
      taken += round.length;
    }
    await sendTo(9_000);
    const [last, ...others] = await claims();
    assert.equal(last?.origin, 'http://127.0.0.1:9000');
    assert.deepEqual(others, []);
    for (const sent of ids) await world.team.api.post(`/v1/messages/${sent}/cancel`);
  });
});
