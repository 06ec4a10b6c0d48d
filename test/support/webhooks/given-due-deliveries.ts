import type { Queryable } from '#server/database/query.ts';
import type { EventId, TeamId, WebhookId } from '#server/platform/ids.ts';
import { type ClaimedPage, claimDeliveries } from '#server/webhooks/dispatch/claim-deliveries.ts';
import { findQueuedWebhooks } from '#server/webhooks/queue/pending-deliveries.ts';
import { changeBy, changeOneBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import type { Lane } from './stored-deliveries.ts';

type Service = Pick<TestService, 'query'>;

/** Moves the due deliveries of a webhook to these lanes in turn. */
export async function moveToLanes(
  { query }: Service,
  webhookId: WebhookId,
  ...lanes: readonly Lane[]
): Promise<void> {
  await query(
    `UPDATE due_deliveries SET lane = ($2::text[])[1 + seq % cardinality($2::text[])] WHERE webhook_id = $1`,
    [webhookId, lanes],
  );
}

/** Empties the queue of deliveries, or the part of a webhook or a team, without changing the deliveries. */
export async function dropDueDeliveries(
  { query }: Service,
  of: { readonly webhookId?: WebhookId; readonly teamId?: TeamId } = {},
): Promise<void> {
  await query(
    'DELETE FROM due_deliveries WHERE ($1::uuid IS NULL OR webhook_id = $1) AND ($2::uuid IS NULL OR team_id = $2)',
    [of.webhookId ?? null, of.teamId ?? null],
  );
}

/** Removes leased deliveries of a lane from the queue, as their results do. */
export async function dropLeasedDeliveries({ query }: Service, lane: Lane, count: number): Promise<void> {
  const dropped = await query(
    `DELETE FROM due_deliveries WHERE delivery_id IN
       (SELECT delivery_id FROM due_deliveries WHERE lane = $1 AND leased_until IS NOT NULL LIMIT $2)
     RETURNING delivery_id`,
    [lane, count],
  );
  if (dropped.length !== count) throw new Error(`${dropped.length} attempts are made in ${lane}`);
}

/** Ends every lease. @param laterMs delays every next attempt, too */
export const endLeases = changeBy<[laterMs?: number]>(
  `UPDATE due_deliveries SET leased_until = NULL, lease = NULL,
     due_at = due_at + make_interval(secs => coalesce($1::float8, 0) / 1000)`,
);

/** Moves a webhook's newest due delivery an hour back in time, before all others. */
export const putNewestFirst = changeBy<[webhookId: WebhookId]>(
  `UPDATE due_deliveries SET due_at = due_at - interval '1 hour'
   WHERE webhook_id = $1 AND seq = (SELECT max(seq) FROM due_deliveries WHERE webhook_id = $1)`,
);

/** Moves one due delivery of a webhook an hour back in time, unless it is leased. @param index from the oldest, 0 */
export const bringForward = changeBy<[webhookId: WebhookId, index: number]>(
  `UPDATE due_deliveries SET due_at = due_at - interval '1 hour'
   WHERE webhook_id = $1 AND leased_until IS NULL
     AND seq = (SELECT min(seq) + $2 FROM due_deliveries WHERE webhook_id = $1)`,
);

/** Deletes all attempts, as the end of their retention does. */
export const dropAttempts = changeBy('DELETE FROM attempts');

/** Deletes an event but not its deliveries, as the end of its retention does. */
export const dropEvent = changeOneBy<[eventId: EventId]>('DELETE FROM events WHERE id = $1');

type Limits = Omit<Parameters<typeof claimDeliveries>[1], 'webhooks'>;

/** Claims deliveries of all webhooks in the queue, as the first claim of a new process does. */
export async function claimFromAll(db: Queryable, limits: Limits): Promise<ClaimedPage> {
  const queued = await findQueuedWebhooks(db);
  const webhooks = queued.map(({ id }) => ({ id, live: 0, retry: 0, replay: 0, manual: 0 }));
  return claimDeliveries(db, { ...limits, webhooks });
}
