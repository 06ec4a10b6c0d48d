import { feedChannel } from '#server/database/channels.ts';
import { isStatementTimeout } from '#server/database/database.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Runner } from '#server/database/slice.ts';
import { Loop } from '#server/platform/concurrency/loop.ts';
import { LowWaterMark, wholeLook } from '#server/platform/concurrency/low-water-mark.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { type EventId, timeOfId } from '#server/platform/ids.ts';
import { ageSeconds, gauges } from '#server/platform/process/metrics.ts';
import { findUnpublishedBefore, publishNext, tryPublisherLock } from './feed-store.ts';

/** Maximum number of events in one batch, which is a transaction of some milliseconds. */
const batchMax = 1_000;

/** Maximum number of batches in one round; the next round begins at most a second later. */
const batchesMax = 100;

/**
 * Publishes events: moves them to the feed, batch by batch (specification section 4.5, decision 0017). If two processes
 * publish at once, one gets the publisher lock and the other returns. The process with the lock reads again after its
 * batch, and so publishes the events of both notifications.
 * @param mark the events below it are left to a look at the whole queue; by default there is none
 * @returns the number of published events
 */
export async function publishEvents({ database }: Runtime, mark = new LowWaterMark()): Promise<number> {
  let published = 0;
  for (let batches = 0; batches < batchesMax; batches += 1) {
    const { events, after } = await database.transaction(async (trx) => {
      // The lock is taken in a separate statement, so that the snapshot of the next one begins after the previous
      // publisher has released the lock.
      if (!(await tryPublisherLock(trx))) return { events: 0, after: undefined };
      const batch = await publishNext(trx, batchMax, mark.position);
      if (batch.events > 0) {
        trx.notifyAfterCommit(feedChannel, batch.teams);
        failpoint('positions before commit');
      }
      return batch;
      // Runs on the hot pool, because plans there read the queue from the mark on, whatever the statistics are.
    }, database.hot);
    if (after !== undefined) mark.see(after, performance.now());
    published += events;
    if (events < batchMax) break;
  }
  return published;
}

const second = 1_000;

/**
 * Publisher: publishes events, which gives them their positions in the feed. One loop reads the queue from a low-water
 * mark on. The other one looks below the mark for events whose transactions ended late. Processes with the role
 * `maintain` run both, because the feed is needed even without webhooks.
 */
export function createPublisher(services: Runtime): Runner {
  const { database, logger } = services;
  const mark = new LowWaterMark();
  const loop = new Loop({
    name: 'publish events',
    intervalMs: second,
    logger,
    run: async () => void (await publishEvents(services, mark)),
  });
  const look = new Loop({
    name: 'find events that were committed late',
    ...wholeLook,
    logger,
    run: async () => {
      const found = await findUnpublishedBefore(database.pages, { before: mark.position }).catch(
        (error: unknown) => {
          // With millions of dead rows each look times out. The mark is lowered, so that rounds look there instead.
          if (isStatementTimeout(error)) mark.lower(0);
          throw error;
        },
      );
      if (!found) return;
      mark.lower(found.seq);
      loop.notify();
    },
  });
  return {
    loops: [loop, look],
    start: async () => void (await Promise.all([loop.start(), look.start()])),
    notify: () => loop.notify(),
    stop: async () => void (await Promise.all([loop.stop(), look.stop()])),
  };
}

/** Upper bound on the counted backlog, which bounds the cost of a scrape. */
const countedMax = 10_000;

const readBacklog = query<{ max: number }, { events: number; oldest: EventId | null }>(
  'events.backlog',
  `SELECT (SELECT count(*) FROM (SELECT FROM unpublished_events LIMIT :max) AS counted) AS events,
     (SELECT event_id FROM unpublished_events ORDER BY seq LIMIT 1) AS oldest`,
).one;

export function registerFeedMetrics({ database, clock, metrics }: Runtime): void {
  gauges({ metrics, clock }, () => readBacklog(database.pool, { max: countedMax }), {
    ownline_unpublished_events: [
      `Events that have no position in the feed yet, counted up to ${countedMax}.`,
      ({ events }) => events,
    ],
    ownline_unpublished_events_oldest_seconds: [
      'How long the oldest event without a position in the feed has waited.',
      ({ oldest }) => ageSeconds(clock, oldest && timeOfId(oldest)),
    ],
  });
}
