import { isStatementTimeout } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { Loop } from '#server/platform/concurrency/loop.ts';
import { LowWaterMark, wholeLook } from '#server/platform/concurrency/low-water-mark.ts';
import { findUnpublishedBefore } from './feed-store.ts';
import { publishEvents } from './publish-events.ts';

const second = 1_000;

/**
 * Publisher: publishes events, which gives them their positions in the feed. `loop` reads the queue from a low-water
 * mark on, and `look` looks below the mark for events whose transactions ended late. Processes with the role `maintain`
 * run both, because the feed is needed even without webhooks.
 */
export function createPublisher(services: Runtime): { readonly loop: Loop; readonly look: Loop } {
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
      const found = await findUnpublishedBefore(database.pages, mark.position).catch((error: unknown) => {
        // Beside millions of dead rows a look takes too long each time. Rounds then have to look below the mark.
        if (isStatementTimeout(error)) mark.lower(0);
        throw error;
      });
      if (!found) return;
      mark.lower(found.seq);
      loop.notify();
    },
  });
  return { loop, look };
}
