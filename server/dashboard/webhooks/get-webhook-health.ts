import type { LastAttempts, WebhookHealth } from '#contract/webhook-health.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import { publicId, type TeamId, type WebhookId } from '#server/platform/ids/ids.ts';
import { attemptSummaryView } from '#server/webhooks/deliveries/delivery-view.ts';
import { findMissedSince } from '#server/webhooks/endpoints/find-missed-since.ts';
import { findWebhook } from '#server/webhooks/endpoints/webhook-store.ts';
import { findFailingSince, findLastFailure, listLastAttempts } from './webhook-health-store.ts';

/**
 * Reads why a webhook fails or is off, and since when it may have missed events (specification section 12.3). It reads
 * at most as many deliveries as a page of the webhook's log.
 * @throws AppError 404
 */
export async function getWebhookHealth(
  { database: { pages } }: Runtime,
  teamId: TeamId,
  webhookId: WebhookId,
): Promise<WebhookHealth> {
  const webhook = await findWebhook(pages, { teamId, webhookId });
  if (!webhook) throw notFound('webhook');
  const { is_active: isActive, disabled_at: at, disabled_by: by } = webhook;
  const failure = await findLastFailure(pages, { teamId, webhookId, before: isActive ? null : at });
  const { since, missed } = await findMissedSince(pages, { teamId, webhookId });
  const failingSince =
    at !== null && by === 'failures'
      ? await findFailingSince(pages, { teamId, webhookId, disabledAt: at })
      : null;
  return {
    switched_off:
      isActive || at === null
        ? null
        : {
            at: at.toISOString(),
            by: by === 'failures' ? 'failures' : 'request',
            failing_since: failingSince?.toISOString() ?? null,
          },
    last_failure: failure
      ? { ...attemptSummaryView(failure), delivery_id: publicId('dlv', failure.delivery_id) }
      : null,
    missed_since: since?.toISOString() ?? null,
    missed,
  };
}

/** Lists the latest attempt of each webhook of a team, test events included (specification section 12.3). */
export async function getLastAttempts(
  { database: { pages } }: Runtime,
  teamId: TeamId,
): Promise<LastAttempts> {
  const attempts = await listLastAttempts(pages, { teamId });
  return {
    last_attempts: attempts.map((attempt) => ({
      ...attemptSummaryView(attempt),
      webhook_id: publicId('wh', attempt.webhook_id),
      test: attempt.is_test,
    })),
  };
}
