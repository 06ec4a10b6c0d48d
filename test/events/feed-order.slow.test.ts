import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { EventList } from '#contract/event.ts';
import { openRuntime } from '#server/app/open-runtime.ts';
import { tryPublisherLock } from '#server/events/feed-store.ts';
import { publishEvents } from '#server/events/publish-events.ts';
import { type MessageId, publicId } from '#server/platform/ids/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { killTransaction } from '#test/support/database/lost-connections.ts';
import { takeUnpublished } from '#test/support/events/given-publication.ts';
import { feedOf, storedEvents, unpublishedEvents } from '#test/support/events/stored-events.ts';
import { roundTrip } from '#test/support/http/round-trip.ts';
import type { ApiClient } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { putEvent, putEvents } from '#test/support/service/insert-events.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const writers = 6;
const transactionsEach = 40;

/** An event that a reader got, with its message and sequence. */
interface Shown {
  readonly id: string;
  readonly message: string;
  readonly sequence: number;
}

describe('the order of the feed during many writes (decision 0017) (§4.5/commit-order)', () => {
  let team: TestTeam;
  const service = givenService();
  const other = given(
    () => openRuntime(service.runtime.config, service.databaseUrl, createLogger('fatal'), service.clock),
    (other) => other.database.close(),
  );

  before(async () => {
    team = await service.newTeam();
  });

  const publicIds = async () =>
    (await storedEvents(service, { teamId: team.id })).map(({ body }) => String(JSON.parse(body).id));
  const untilPublished = () =>
    until('all are published', async () => (await unpublishedEvents(service)).length === 0);

  /** Follows the cursor as a client does, until it got every event that was committed before `isOver`. */
  async function follow(api: ApiClient, isOver: () => boolean, limit: number): Promise<Shown[]> {
    const shown: Shown[] = [];
    let cursor = '';
    for (;;) {
      const over = isOver();
      const answer = await api.get(
        `/v1/events?limit=${limit}&wait=1${cursor === '' ? '' : `&after=${cursor}`}`,
      );
      assert.equal(answer.status, 200, answer.text);
      const page = answer.json as unknown as EventList;
      for (const event of page.events) {
        const { id: message } = event.data as { readonly id?: string };
        shown.push({ id: event.id, message: message ?? '', sequence: event.sequence });
      }
      if (over && page.events.length === 0) return shown;
      cursor = page.cursor;
    }
  }

  it('the feed shows every event once, and the events of a message in order', async () => {
    let open = writers;
    const messages = Array.from({ length: 10 }, () => service.runtime.ids.next('msg'));
    const sequences = new Map<MessageId, number>();
    const heldBack: (() => void)[] = [];
    let rolledBack = 0;
    const write = async (writer: number) => {
      const runtime = writer % 2 === 0 ? service.runtime : other;
      for (let n = 0; n < transactionsEach; n += 1) {
        const isUndone = n % 13 === 12;
        await runtime.database
          .transaction(async (trx) => {
            for (let events = 0; events <= n % 3; events += 1) await putEvent(trx, runtime, team.id);
            // The event has its id and seq, but its transaction waits until later events are committed.
            if (n % 2 === writer % 2) await new Promise<void>((resolve) => heldBack.push(resolve));
            if (isUndone) throw new Error('undone');
          })
          .catch((error: Error) => {
            if (error.message !== 'undone') throw error;
            rolledBack += 1;
          });
      }
      open -= 1;
    };
    // Writes a message's events in separate transactions, on both processes in turn.
    const change = async () => {
      for (let round = 0; round < 20; round += 1) {
        for (const [index, messageId] of messages.entries()) {
          const runtime = (index + round) % 2 === 0 ? service.runtime : other;
          const sequence = (sequences.get(messageId) ?? 0) + 1;
          sequences.set(messageId, sequence);
          await runtime.database.transaction((trx) =>
            putEvent(trx, runtime, team.id, { messageId, sequence }),
          );
        }
      }
    };
    const release = async () => {
      while (open > 0) {
        // Ends the waiting transactions, the oldest one last.
        const [oldest, ...rest] = heldBack.splice(0);
        for (const letGo of rest.reverse()) letGo();
        await roundTrip(service);
        oldest?.();
        await new Promise(setImmediate);
      }
    };
    let isPublished = false;
    const isOver = () => isPublished;
    const feedPolls = [1, 7, 100].map((limit) => follow(team.api, isOver, limit));
    await Promise.all([...Array.from({ length: writers }, (_, n) => write(n)), change(), release()]);
    const committed = (await publicIds()).sort();
    assert.ok(committed.length > 500 && rolledBack > 10, `${committed.length} ${rolledBack}`);
    await untilPublished();
    isPublished = true;
    const all = await Promise.all(feedPolls);
    const changed = new Set(messages.map((id) => publicId('msg', id)));
    for (const shown of all) {
      assert.deepEqual(shown.map((event) => event.id).sort(), committed);
      assert.deepEqual(shown, all[0]);
      for (const [message, events] of Map.groupBy(shown, (event) => event.message)) {
        if (!changed.has(message)) continue;
        assert.deepEqual(
          events.map((event) => event.sequence),
          Array.from({ length: 20 }, (_, index) => index + 1),
        );
      }
    }
  });

  it('an event whose transaction ends late gets a position after all events that were shown', async () => {
    const readAll = async () => {
      const page = (await team.api.get('/v1/events?limit=100')).json as unknown as EventList;
      return page.events.map((event) => event.id);
    };
    team = await service.newTeam();
    const late = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const first = service.runtime.database.transaction(async (trx) => {
      await putEvent(trx, service.runtime, team.id);
      written.resolve();
      await late.promise;
    });
    await written.promise;
    await putEvents(other, team.id, 1);
    const [shown] = await until('the second is published', async () => {
      const ids = await readAll();
      return ids.length === 1 && ids;
    });
    late.resolve();
    await first;
    const both = await until('the first is published', async () => {
      const ids = await readAll();
      return ids.length === 2 && ids;
    });
    assert.equal(both[0], shown);
    assert.ok(both[1] !== undefined && shown !== undefined && both[1] < shown, 'its id is the smaller one');
  });

  it('a publisher that is killed in the middle of a batch leaves the whole batch to the next one', async () => {
    team = await service.newTeam();
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

  it('two simultaneous publishers assign each event one position', async () => {
    team = await service.newTeam();
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
