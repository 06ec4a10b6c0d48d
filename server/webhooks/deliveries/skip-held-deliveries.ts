import { setTimeout as pause } from 'node:timers/promises';
import type { Runtime } from '#server/database/runtime.ts';
import { type Queryable, statement } from '#server/database/statement.ts';
import { hasFanOutsBefore, writeFanOutDeliveries } from '#server/events/fan-out.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { countText } from '#server/platform/count-text.ts';
import { firstIdAfter, type TeamId, type WebhookId } from '#server/platform/ids/ids.ts';
import { lockWebhook } from '#server/webhooks/endpoints/webhook-store.ts';
import { skipRound } from '#server/webhooks/queue/skip-pending.ts';

const find = statement<[string], { readonly team_id: TeamId; readonly id: WebhookId }>(
  'webhooks.find-held',
  `SELECT w.team_id, w.id FROM webhooks w
   WHERE EXISTS (SELECT FROM due_deliveries d WHERE d.webhook_id = w.id AND d.delivery_id < $1) LIMIT 1`,
);
// Manual attempts are skipped, too. None is in progress, because none is made during a restore hold.
const skip = skipRound<[string]>('webhooks.skip-held', 'delivery_id < $3');
const counted = statement<[string, number], { readonly count: number }>(
  'webhooks.count-held',
  `SELECT count(*) FROM (
     SELECT FROM webhooks w
     CROSS JOIN LATERAL (
       SELECT FROM due_deliveries d WHERE d.webhook_id = w.id AND d.delivery_id < $1 ORDER BY d.delivery_id LIMIT $2) d
     LIMIT $2) c`,
);

/**
 * Counts deliveries that a restore hold holds back. @returns the number of pending deliveries of events up to
 * `heldBefore`, at most `max`
 */
export async function countHeldDeliveries(db: Queryable, heldBefore: Date, max: number): Promise<number> {
  return (await counted.row(db, firstIdAfter(heldBefore), max))?.count ?? 0;
}

/** How long to wait for another process that may be writing a batch of deliveries. */
const fanOutWaitMs = 1_000;
const fanOutCheckMs = 100;

/**
 * Skips all pending deliveries of events up to a moment, so that a replay finds them.
 * @throws AppError 503 if the deliveries of an event can't be written, so that some would be left: the caller then
 * keeps the restore hold
 * @returns the number of skipped deliveries
 */
export async function skipHeldDeliveries(
  services: Pick<Runtime, 'database' | 'clock' | 'logger'>,
  heldBefore: Date,
): Promise<number> {
  const endMs = performance.now() + fanOutWaitMs;
  let skipped = 0;
  for (;;) {
    await writeFanOutDeliveries(services);
    // This is checked before the skip. If all deliveries were written by now, the skip finds each of them.
    const areWritten = !(await hasFanOutsBefore(services.database.pool, firstIdAfter(heldBefore)));
    skipped += await skipWritten(services, heldBefore);
    if (areWritten) return skipped;
    if (performance.now() >= endMs) break;
    await pause(fanOutCheckMs);
  }
  throw unavailable(
    `Skipped ${countText(skipped, 'delivery', 'deliveries')}, but an event still waits for its deliveries. The hold goes on. Repeat the request.`,
  );
}

async function skipWritten(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  heldBefore: Date,
): Promise<number> {
  let skipped = 0;
  for (;;) {
    const webhook = await find.row(database.pool, firstIdAfter(heldBefore));
    if (!webhook) return skipped;
    skipped += await database.transaction(async (trx) => {
      await lockWebhook(trx, { teamId: webhook.team_id, webhookId: webhook.id });
      const round = await skip.row(trx, webhook.id, clock.now(), firstIdAfter(heldBefore));
      return round?.skipped ?? 0;
    });
  }
}
