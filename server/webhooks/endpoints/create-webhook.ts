import type { CreateWebhookRequest } from '#contract/webhook.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { runTeamChange } from '#server/teams/members/run-team-change.ts';
import { requireBelowPlanLimit } from '#server/teams/team/plans.ts';
import { requireOwnNumber, validateEvents, validateWebhookUrl } from './validate-webhook.ts';
import { newWebhookSecret, sealSecret } from './webhook-secret.ts';
import { countWebhooks, insertWebhook, type WebhookRow } from './webhook-store.ts';

/**
 * Creates a webhook, which gets the events that are written after its commit (specification section 4.4). No later
 * answer shows the secret.
 * @throws AppError 400, param url, events or phone_number; 402 where the plan allows no more webhooks
 */
export async function createWebhook(
  services: Runtime,
  teamId: TeamId,
  input: CreateWebhookRequest,
  by: AuditActor,
): Promise<{ readonly webhook: WebhookRow; readonly secret: string }> {
  const { clock, ids, config, secrets } = services;
  validateWebhookUrl(input.url, config.egressAllowed);
  const events = validateEvents(input.events);
  const phoneNumber = input.phone_number ?? null;
  // The team is locked from the count to the insert, so that concurrent requests cannot exceed the limit of the plan.
  return runTeamChange(services, { teamId, by, permission: 'webhooks:manage' }, async (trx, team) => {
    if (phoneNumber !== null) await requireOwnNumber(trx, teamId, phoneNumber);
    requireBelowPlanLimit(config, team, 'webhook', await countWebhooks(trx, { teamId }), 'Delete one');
    const webhookId = ids.next('wh');
    const secret = newWebhookSecret();
    const webhook = await insertWebhook(trx, {
      teamId,
      webhookId,
      url: input.url,
      events,
      phoneNumber,
      sealedSecret: sealSecret(secrets, webhookId, secret),
      createdAt: clock.now(),
    });
    await recordAudit(trx, services, {
      by,
      action: 'webhook.created',
      teamId,
      target: publicId('wh', webhookId),
      details: { url: input.url, events, phone_number: phoneNumber },
    });
    return { webhook, secret };
  });
}
