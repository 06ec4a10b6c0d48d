import type { EventType } from '#contract/event.ts';
import type { CreateWebhookRequest, UpdateWebhookRequest } from '#contract/webhook.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Queryable } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { findLiveNumberByPhone } from '#server/numbers/number-store.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { invalid } from '#server/platform/app-error.ts';
import { publicId, type TeamId } from '#server/platform/ids.ts';
import type { AddressRange } from '#server/platform/network/ip-address.ts';
import { validateUrl } from '#server/platform/outbound-http/validate-url.ts';
import { runTeamChange } from '#server/teams/members/members.ts';
import { requireBelowPlanLimit } from '#server/teams/team/plans.ts';
import {
  deleteBatchMax,
  deletePending,
  skipBatchMax,
  skipPending,
} from '#server/webhooks/queue/pending-deliveries.ts';
import { newWebhookSecret, sealSecret } from './webhook-secret.ts';
import {
  countWebhooks,
  insertWebhook,
  lockWebhook,
  removeWebhook,
  runWebhookChange,
  type WebhookIds,
  type WebhookRow,
  type WebhookTarget,
  writeSettings,
} from './webhook-store.ts';

/**
 * Refuses a URL that events can't be sent to, as far as that is known without a DNS look-up (specification section
 * 4.4). Each attempt checks the addresses of the host.
 * @param allowed ranges of EGRESS_ALLOW_CIDRS
 * @throws AppError 400, param url
 */
function validateWebhookUrl(url: string, allowed: readonly AddressRange[]): void {
  const validated = validateUrl(url, allowed);
  if ('refused' in validated) throw invalid('url', validated.refused);
}

/** Removes repeated event types and keeps their order. @throws AppError 400, param events, for an empty list */
function validateEvents(events: readonly EventType[]): EventType[] {
  if (events.length === 0) throw invalid('events', 'events must name at least one type of event.');
  return [...new Set(events)];
}

/** Accepts only numbers of the team, pending ones included. @throws AppError 400, param phone_number */
async function requireOwnNumber(db: Queryable, teamId: TeamId, phoneNumber: string): Promise<void> {
  if (await findLiveNumberByPhone(db, { teamId, phoneNumber })) return;
  throw invalid(
    'phone_number',
    `${phoneNumber} is not a number of this team. Connect it first, or send null for the events of all numbers.`,
  );
}

/**
 * Creates a webhook, which gets the events that are written after its commit (specification section 4.4). No later
 * answer shows the secret.
 * @throws AppError 400, param url, events or phone_number; 402 if the plan allows no more webhooks
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

/**
 * Computes a webhook's settings after a change (specification section 4.4). Enabling the webhook, or giving it a new
 * url, begins a generation. The failure count restarts at zero, and attempts of earlier generations no longer
 * count. An unchanged url begins no generation.
 */
function applyWebhookChange(webhook: WebhookRow, change: UpdateWebhookRequest, at: Date): WebhookRow {
  const { url = webhook.url, active = webhook.is_active, phone_number = webhook.phone_number } = change;
  const isNewGeneration = change.active === true || url !== webhook.url;
  const isSwitchedOff = !active && webhook.is_active;
  return {
    ...webhook,
    url,
    events: change.events === undefined ? webhook.events : validateEvents(change.events),
    phone_number,
    is_active: active,
    failure_count: isNewGeneration ? 0 : webhook.failure_count,
    generation: isNewGeneration ? webhook.generation + 1 : webhook.generation,
    disabled_at: active ? null : isSwitchedOff ? at : webhook.disabled_at,
    disabled_by: active ? null : isSwitchedOff ? 'member' : webhook.disabled_by,
  };
}

/**
 * Changes the given fields of a webhook (specification section 4.4); `{}` changes nothing. Deliveries claimed after the
 * commit go to the new url. A disabled webhook gets manual attempts only: its pending deliveries are skipped before
 * this returns, in rounds with short locks.
 * @throws AppError 400, param url, events or phone_number; 404
 */
export async function updateWebhook(
  services: Runtime,
  target: WebhookTarget,
  change: UpdateWebhookRequest,
): Promise<WebhookRow> {
  if (change.url !== undefined) validateWebhookUrl(change.url, services.config.egressAllowed);
  const { webhook, skipped } = await runWebhookChange(
    services,
    target,
    'webhook.changed',
    async (trx, before) => {
      const { phone_number: phoneNumber } = change;
      if (typeof phoneNumber === 'string') await requireOwnNumber(trx, target.teamId, phoneNumber);
      const at = services.clock.now();
      const webhook = await writeSettings(trx, applyWebhookChange(before, change, at));
      const skipped = webhook.is_active ? 0 : await skipPending(trx, { ...target, at });
      const noted = Object.keys(change).length > 0 ? { ...change } : undefined;
      return { result: { webhook, skipped }, noted };
    },
  );
  if (skipped === skipBatchMax) await skipTheRest(services, target);
  return webhook;
}

/**
 * Skips the rest of a backlog, unless the webhook is enabled again meanwhile. If the process dies, the sweep continues
 * the work.
 */
async function skipTheRest({ database, clock }: Runtime, ids: WebhookIds): Promise<void> {
  let skipped = skipBatchMax;
  while (skipped === skipBatchMax) {
    skipped = await database.transaction(async (trx) => {
      const webhook = await lockWebhook(trx, ids);
      return webhook && !webhook.is_active ? skipPending(trx, { ...ids, at: clock.now() }) : 0;
    });
  }
}

/**
 * Deletes a webhook and its pending deliveries (specification section 4.4). No attempt begins after the commit. The
 * rest of a long backlog is deleted in rounds afterwards.
 * @throws AppError 404
 */
export async function deleteWebhook(services: Runtime, target: WebhookTarget): Promise<void> {
  let dropped = await runWebhookChange(services, target, 'webhook.deleted', async (trx, webhook) => {
    await removeWebhook(trx, target);
    return { result: await deletePending(trx, target), noted: { url: webhook.url } };
  });
  while (dropped === deleteBatchMax) dropped = await deletePending(services.database.pool, target);
}
