import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AttemptFailure } from '#contract/attempt-outcome.ts';
import type { Queryable } from '#server/database/query.ts';
import { publicId } from '#server/platform/ids.ts';
import type { ClaimedDelivery } from '#server/webhooks/dispatch/claim-deliveries.ts';
import { recordResults } from '#server/webhooks/dispatch/record-results.ts';
import { lockLeasedDeliveries } from '#server/webhooks/dispatch/webhook-failures.ts';
import { teamSlots } from '#server/webhooks/limits.ts';
import { sweepDeliveries } from '#server/webhooks/queue/pending-deliveries.ts';
import { assertEach, assertNone } from '#test/support/service/assert-each.ts';
import {
  bringForward,
  claimFromAll,
  dropDueDeliveries,
  dropLeasedDeliveries,
  endLeases,
  moveToLanes,
  putNewestFirst,
} from '#test/support/webhooks/given-due-deliveries.ts';
import { setFailureCount, switchSubscription } from '#test/support/webhooks/make-webhooks.ts';
import { attemptsOf, deliveriesOf, dueDeliveries } from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';
import { addWebhook, emit, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

/** Slots per lane, as section 6.3 states them, not read from the server. */
const places = { live: 128, replay: 16, retry: 32, manual: 8 };

/** Number of rounds. In each, simultaneous claims read the queue before other claims have locked their rows. */
const rounds = 25;

describe('claims by several processes at once (specification section 6.3, decision 0017)', () => {
  const service = givenWebhookService({ ROLES: 'api' });

  const claimed = (db: Queryable, inFlight = new Map(), free = 100) => {
    const { clock } = service;
    return claimFromAll(db, { now: clock.now(), leasedUntil: clock.in(20_000), free, inFlight });
  };
  const claim = async (db: Queryable, inFlight = new Map()): Promise<readonly ClaimedDelivery[]> =>
    (await claimed(db, inFlight)).deliveries;

  const result = (claimed: ClaimedDelivery, outcome: 'succeeded' | AttemptFailure) => ({
    claimed,
    id: service.runtime.ids.next('att'),
    startedAt: service.clock.now(),
    durationMs: 5,
    outcome,
    statusCode: undefined,
    responseBody: undefined,
    responseTruncated: false,
  });

  /** Makes a webhook with so many failures that only one of its attempts runs at a time. */
  async function slowWebhook(deliveries: number) {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, 'https://hooks.example.com/');
    await emit(service.runtime, teamId, Array(deliveries).fill('Hello'));
    await setFailureCount(service, webhook.id, 3);
    return webhook;
  }

  it('a second claim for a failing webhook takes nothing while the first attempt is being made (§6.3/failure-count)', async () => {
    const webhook = await slowWebhook(5);
    const { database } = service.runtime;
    await database.transaction(async (first) => {
      assert.equal((await claim(first)).length, 1);
      // The second claim begins with another row, so a lock of the first claim's row would not stop it.
      await putNewestFirst(service, webhook.id);
      assert.equal((await claim(database.pool)).length, 0);
    });
    assert.equal((await claim(database.pool)).length, 0);
    await endLeases(service);
    await setFailureCount(service, webhook.id, 2);
    assert.equal((await claim(database.pool)).length, 5, 'after two failures');
    await dropDueDeliveries(service, { webhookId: webhook.id });
  });

  it('only one of several simultaneous claims takes a delivery of a failing webhook (§6.3/failure-count)', async () => {
    const webhook = await slowWebhook(5);
    // Many other webhooks prolong the time from a claim's reading to its locking.
    for (let n = 0; n < 30; n += 1) await slowWebhook(1);
    const { pool } = service.runtime.database;
    const taken: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await endLeases(service);
      service.clock.advance(1_000);
      const burst = await Promise.all(
        [0, 1, 2, 3, 4, 0, 1, 2].map(async (index) => {
          await bringForward(service, webhook.id, index);
          return claim(pool);
        }),
      );
      taken.push(burst.flat().filter(({ webhook_id: id }) => id === webhook.id).length);
    }
    // In some rounds no claim takes a delivery, because every claim met a row that another transaction was changing.
    assert.ok(taken.filter((count) => count === 1).length > rounds / 2, `taken: ${taken}`);
    assertNone(taken, (count) => count > 1);
    await dropDueDeliveries(service);
  });

  it('a team that uses its 256 slots in a process gets no further attempt there, and other teams do', async () => {
    const full = await service.newTeam();
    const other = await service.newTeam();
    for (const { id } of [full, other]) {
      await addWebhook(service.runtime, id, 'https://hooks.example.com/');
      await emit(service.runtime, id, ['Hello', 'Hello']);
    }
    const { pool } = service.runtime.database;
    const taken = async (places: number) =>
      (await claim(pool, new Map([[full.id, places]]))).map(({ team_id: teamId }) => teamId).sort();
    assert.deepEqual(await taken(teamSlots), [other.id, other.id]);
    assert.deepEqual(await taken(teamSlots - 1), [full.id]);
    // A team without free slots is not examined, so the claim does not know when the team's next attempt is due.
    await endLeases(service, 24 * 3_600_000);
    const next = async (places: number) => (await claimed(pool, new Map([[full.id, places]]))).nextDueAt;
    await dropDueDeliveries(service, { teamId: other.id });
    assert.equal(await next(teamSlots), undefined);
    assert.ok(await next(teamSlots - 1));
    await dropDueDeliveries(service);
  });

  it('a delivery whose result is being stored is not claimed by others, even if its lease ends (§6.3/failure-count)', async () => {
    const { id: teamId } = await service.newTeam();
    await addWebhook(service.runtime, teamId, 'https://hooks.example.com/');
    await emit(service.runtime, teamId, ['Hello']);
    const { database } = service.runtime;
    const held = await claim(database.pool);
    await database.transaction(async (counting) => {
      assert.equal((await lockLeasedDeliveries(counting, held)).size, 1);
      service.clock.advance(60_000);
      assert.equal((await claim(database.pool)).length, 0);
    });
    assert.equal((await claim(database.pool)).length, 1);
    await dropDueDeliveries(service);
  });

  it('an attempt that failed by an internal fault of the server is repeated, and does not count as a failure (§6.3/failure-count)', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, 'https://hooks.example.com/');
    await emit(service.runtime, teamId, Array(10).fill('Hello'));
    const taken = await claim(service.runtime.database.pool);
    await recordResults(
      service.runtime,
      taken.map((one) => result(one, 'internal_error')),
    );
    const state = await stateOf(service, webhook);
    assert.deepEqual([state.failureCount, state.isActive], [0, true]);
    const attempts = await attemptsOf(service, webhook);
    assert.deepEqual([attempts.length, attempts.filter(({ isCounted }) => isCounted).length], [10, 0]);
    const waiting = await dueDeliveries(service, { webhookId: webhook.id });
    assertEach(waiting, ({ attempt }) => attempt, Array(10).fill(2));
    await dropDueDeliveries(service);
  });

  it('results that are stored twice, because the commit’s answer was lost, are refused the second time as a whole', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, 'https://hooks.example.com/');
    await emit(service.runtime, teamId, ['Hello']);
    const results = (await claim(service.runtime.database.pool)).map((one) => result(one, 'succeeded'));
    await recordResults(service.runtime, results);
    await assert.rejects(recordResults(service.runtime, results), { code: '23505' });
    const [delivery] = await deliveriesOf(service, webhook);
    assert.equal(delivery?.attemptCount, 1);
  });

  it('a webhook has at most 128 first attempts, 32 retries, 16 replayed and 8 manual attempts at a time, over all processes', async () => {
    const { runtime } = service;
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(runtime, teamId, 'https://hooks.example.com/');
    const lanes = ['live', 'replay', 'retry', 'manual'] as const;
    await emit(runtime, teamId, Array(600).fill('Hello'));
    await moveToLanes(service, webhook.id, ...lanes);
    /** Claims as another process does. @returns the number of deliveries by lane */
    const claimLanes = async () => {
      const { deliveries } = await claimed(runtime.database.pool, new Map(), 1_024);
      return Object.fromEntries(
        lanes.map((lane) => [lane, deliveries.filter((delivery) => delivery.lane === lane).length]),
      );
    };
    assert.deepEqual(await claimLanes(), places);
    assert.deepEqual(await claimLanes(), { live: 0, replay: 0, retry: 0, manual: 0 });
    await dropLeasedDeliveries(service, 'replay', 5);
    assert.deepEqual(await claimLanes(), { live: 0, replay: 5, retry: 0, manual: 0 });
    await dropDueDeliveries(service);
  });

  it('the sweep skips deliveries that were added while their webhook was disabled, but not manual attempts (§6.3/failure-count)', async () => {
    const { runtime } = service;
    const team = await service.newTeam();
    const off = await addWebhook(runtime, team.id, 'http://127.0.0.1:9/');
    await emit(runtime, team.id, ['met it']);
    const on = await addWebhook(runtime, team.id, 'http://127.0.0.1:9/');
    await emit(runtime, team.id, ['to both']);
    const test = await team.api.post(`/v1/webhooks/${publicId('wh', off.id)}/test`);
    assert.equal(test.status, 202, test.text);
    await switchSubscription(service, off.id, false);
    await sweepDeliveries(runtime);
    const statuses = async (webhook: typeof off) =>
      (await deliveriesOf(service, webhook)).map(({ status }) => status);
    assert.deepEqual(await statuses(off), ['skipped', 'skipped', 'pending']);
    assert.deepEqual(await statuses(on), ['pending']);
    const waiting = await dueDeliveries(service);
    assert.deepEqual(waiting.map(({ lane }) => lane).sort(), ['live', 'manual']);
  });
});
