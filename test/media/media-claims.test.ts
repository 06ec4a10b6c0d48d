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
import { given } from '#test/support/service/given.ts';

const leaseMs = 60_000;

describe('a fetch that is claimed a second time (§3.2/media-ends)', () => {
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

  it('the second claim removes what the first try stored, and the first claim removes nothing of the second', async () => {
    const before = await chunks();
    await storeChunk();
    const second = await claimedAgain();
    await removeEarlierTries(world.service.runtime, second);
    assert.equal(await chunks(), before);
    await storeChunk();
    await removeEarlierTries(world.service.runtime, first);
    assert.equal(await chunks(), before + 1);
  });

  it('a fetch whose lease has ended is not claimed while a transaction locks it', async () => {
    await world.service.runtime.database.transaction(async (trx) => {
      assert.equal(await lockCurrentFetch(trx, first), true);
      world.service.clock.advance(leaseMs + 1);
      assert.deepEqual(await claims(), []);
    });
    assert.equal((await claims()).length, 1);
  });

  it('a fetch from the last of many origins is claimed, although fetches from all other origins wait (§3.2/media-slots)', async () => {
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
