import type { AuditAction } from '#server/audit/audit-action.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { runTeamChange } from '#server/teams/members/run-team-change.ts';
import { lockWebhook, type WebhookIds, type WebhookRow } from './webhook-store.ts';

export interface WebhookTarget extends WebhookIds {
  readonly by: AuditActor;
}

/**
 * Runs a change under the locks of the team and the webhook. It rechecks the member's permission, because url and
 * secrets outlive the request, and records the change in the audit log.
 * @param work makes the change; it returns the result and the audit details, which are undefined for no entry
 * @throws AppError 404; 403 where the member has lost the role meanwhile
 */
export function runWebhookChange<T>(
  services: Runtime,
  { teamId, webhookId, by }: WebhookTarget,
  action: AuditAction,
  work: (
    trx: Transaction,
    webhook: WebhookRow,
  ) => Promise<{ readonly result: T; readonly noted: Readonly<Record<string, unknown>> | undefined }>,
): Promise<T> {
  return runTeamChange(services, { teamId, by, permission: 'webhooks:manage' }, async (trx) => {
    const webhook = await lockWebhook(trx, { teamId, webhookId });
    if (!webhook) throw notFound('webhook');
    const { result, noted } = await work(trx, webhook);
    if (noted) {
      const target = publicId('wh', webhookId);
      await recordAudit(trx, services, { by, action, teamId, target, details: noted });
    }
    return result;
  });
}
