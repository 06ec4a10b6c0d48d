import type { Queryable } from '#server/database/statement.ts';
import { type ClaimedPage, claimDeliveries } from '#server/webhooks/dispatch/claim-deliveries.ts';
import { findQueuedWebhooks } from '#server/webhooks/queue/due-webhooks.ts';

type Limits = Omit<Parameters<typeof claimDeliveries>[1], 'webhooks'>;

/** Claims deliveries of all webhooks in the queue, like the first claim of a new process. */
export async function claimFromAll(db: Queryable, limits: Limits): Promise<ClaimedPage> {
  const queued = await findQueuedWebhooks(db);
  const webhooks = queued.map(({ id }) => ({ id, live: 0, retry: 0, replay: 0, manual: 0 }));
  return claimDeliveries(db, { ...limits, webhooks });
}
