import { type ReplayRequest, replayedMax } from '#contract/webhook.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { conflict, notFound } from '#server/platform/app-error.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { WebhookTarget } from '#server/webhooks/endpoints/run-webhook-change.ts';
import { lockWebhook } from '#server/webhooks/endpoints/webhook-store.ts';
import { parseReplayBounds } from './replay-range.ts';
import {
  type ReplayBatch,
  type ReplayQuery,
  replayedStatuses,
  requeueReplayBatch,
  roundExaminedMax,
} from './replay-statement.ts';

/**
 * Replay: makes failed and skipped deliveries pending again, oldest first, behind current ones (specification section
 * 4.4). Each round of `roundExaminedMax` deliveries is a transaction, so that others wait only shortly. Queued
 * deliveries stay queued if this request fails. The replay ends at `replayedMax`, or when the webhook is disabled
 * meanwhile.
 * @returns the number of queued deliveries
 * @throws AppError 400, param since or until; 404; 409 for a disabled webhook
 */
export async function replayDeliveries(
  services: Runtime,
  target: WebhookTarget,
  request: ReplayRequest,
): Promise<number> {
  const { teamId, webhookId } = target;
  const dueAt = services.clock.now();
  const statuses = replayedStatuses[request.only];
  const range = { ...parseReplayBounds(request, dueAt), teamId, webhookId, statuses, dueAt };
  let queued = 0;
  let after: string | null = range.after;
  for (let isFirst = true; after !== null && queued < replayedMax; isFirst = false) {
    const done: ReplayBatch = await oneRound(
      services,
      target,
      { ...range, after },
      isFirst ? request : undefined,
    );
    queued += done.queued;
    after = done.examined < roundExaminedMax ? null : done.last_id;
  }
  return queued;
}

/**
 * @param noted the request for the audit log; undefined in later rounds. If the webhook is disabled, the first round
 * throws, and a later round queues nothing.
 */
function oneRound(
  services: Runtime,
  { teamId, webhookId, by }: WebhookTarget,
  range: ReplayQuery,
  noted: ReplayRequest | undefined,
): Promise<ReplayBatch> {
  return services.database.transaction(async (trx) => {
    // FOR UPDATE makes late results of skipped deliveries wait until the round has ended.
    const webhook = await lockWebhook(trx, { teamId, webhookId });
    if (!webhook && noted) throw notFound('webhook');
    if (!webhook?.is_active) {
      if (!noted) return { queued: 0, examined: 0, last_id: null };
      throw conflict(
        'This webhook is switched off. Switch it on with PUT /v1/webhooks/:id and active true, then replay.',
      );
    }
    if (noted) {
      const target = publicId('wh', webhookId);
      await recordAudit(trx, services, {
        by,
        action: 'webhook.replayed',
        teamId,
        target,
        details: { ...noted },
      });
    }
    return requeueReplayBatch(trx, range);
  });
}
