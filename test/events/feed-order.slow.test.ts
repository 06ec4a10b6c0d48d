import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EventList } from '#contract/event.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { tryPublisherLock } from '#server/events/feed-store.ts';
import { publishEvents } from '#server/events/publisher.ts';
import { killTransaction } from '#test/support/database/lost-connections.ts';
import { takeUnpublished } from '#test/support/events/given-publication.ts';
import { feedOf, storedEvents, unpublishedEvents } from '#test/support/events/stored-events.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenRuntime } from '#test/support/service/given-runtime.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { putEvent, putEvents } from '#test/support/service/insert-events.ts';
import { until } from '#test/support/service/until.ts';

describe('the order of the feed during many writes (decision 0017) (§4.5/commit-order)', () => {
  const service = givenService();
  const other = givenRuntime(service);
  const team = givenEach(() => service.newTeam());

  const publicIds = async () =>
    (await storedEvents(service, { teamId: team.id })).map(({ body }) => String(JSON.parse(body).id));
  const untilPublished = () =>
    until('all are published', async () => (await unpublishedEvents(service)).length === 0);

  /** Writes an event in a transaction that stays open until the test ends it. */
  async function holdEvent(runtime: Runtime) {
    const written = Promise.withResolvers<void>();
    const ending = Promise.withResolvers<void>();
    const ended = runtime.database.transaction(async (trx) => {
      await putEvent(trx, runtime, team.id);
      written.resolve();
      await ending.promise;
    });
    await written.promise;
    return {
      commit: () => {
        ending.resolve();
        return ended;
      },
      rollBack: () => {
        ending.reject(new Error('undone'));
        return assert.rejects(ended, /undone/);
      },
    };
  }

  it('readers with any page size see the committed events of two processes once and in one order', async () => {
    let isOver = false;
    const follow = async (limit: number) => {
      const shown: string[] = [];
      for (let cursor = ''; ; ) {
        const wasOver = isOver;
        const after = cursor && `&after=${cursor}`;
        const { json } = await team.api.get(`/v1/events?limit=${limit}&wait=1${after}`);
        const page = json as unknown as EventList;
        if (wasOver && page.events.length === 0) return shown;
        shown.push(...page.events.map(({ id }) => id));
        cursor = page.cursor;
      }
    };
    const readers = Promise.all([1, 7, 100].map(follow));
    const [late, undone] = [await holdEvent(service.runtime), await holdEvent(other)];
    const write = async (runtime: Runtime) => {
      for (let n = 0; n < 15; n += 1) {
        await putEvents(runtime, team.id, 1 + (n % 3));
        await publishEvents(runtime);
      }
    };
    await Promise.all([service.runtime, other, service.runtime, other].map(write));
    await undone.rollBack();
    await late.commit();
    await untilPublished();
    isOver = true;
    const [first = [], ...others] = await readers;
    assert.equal(first.length, 121);
    assert.deepEqual(first.toSorted(), (await publicIds()).toSorted());
    for (const shown of others) assert.deepEqual(shown, first);
  });

  it('an event whose transaction ends late gets a position after all events that were shown', async () => {
    const readAll = async () => {
      const page = (await team.api.get('/v1/events?limit=100')).json as unknown as EventList;
      return page.events.map((event) => event.id);
    };
    const late = await holdEvent(service.runtime);
    await putEvents(other, team.id, 1);
    const [shown] = await until('the second is published', async () => {
      const ids = await readAll();
      return ids.length === 1 && ids;
    });
    await late.commit();
    const both = await until('the first is published', async () => {
      const ids = await readAll();
      return ids.length === 2 && ids;
    });
    assert.equal(both[0], shown);
    assert.ok(both[1] !== undefined && shown !== undefined && both[1] < shown, 'its id is the smaller one');
  });

  it('after a kill of a publisher in the middle of a batch, the next publisher publishes the whole batch', async () => {
    const killed = service.runtime.database.transaction(async (trx) => {
      await until('its turn', () => tryPublisherLock(trx));
      await putEvents(other, team.id, 5);
      await takeUnpublished(trx);
      // Another publisher finds no events and does not wait for this one.
      assert.equal(await publishEvents(other), 0);
      await killTransaction(trx, service);
    });
    // The client fails before or while it waits for the answer, or when it writes to the closed connection.
    await assert.rejects(killed, /terminat|connection error|EPIPE|ECONNRESET/i);
    const page = await until('they are published', async () => {
      const answer = (await team.api.get('/v1/events')).json as unknown as EventList;
      return answer.events.length === 5 && answer;
    });
    assert.deepEqual(page.events.map((event) => event.id).sort(), (await publicIds()).sort());
  });

  it('two simultaneous publishers give each event exactly one position', async () => {
    await putEvents(service.runtime, team.id, 300);
    const together = [service.runtime, other].flatMap((runtime) =>
      Array.from({ length: 5 }, () => publishEvents(runtime)),
    );
    await Promise.all(together);
    await untilPublished();
    const feed = await feedOf(service, team.id);
    assert.equal(new Set(feed).size, 300);
    assert.equal(feed.length, 300);
  });
});
