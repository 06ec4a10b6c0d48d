import type { AuditAction } from '#server/audit/audit-action.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { publicId, type TeamId, type WebhookId } from '#server/platform/ids/ids.ts';
import { recheckPermission } from '#server/teams/members/recheck-permission.ts';
import { lockTeam } from '#server/teams/team/team-store.ts';
import { lockWebhook, type WebhookRow } from './webhook-store.ts';

/** Which webhook, and who wants it changed. */
export interface WebhookTarget {
  readonly teamId: TeamId;
  readonly webhookId: WebhookId;
  readonly by: AuditActor;
}

/**
 * What every change of a webhook does around its own work: it holds the team and the webhook FOR UPDATE, asks once more
 * whether a member may (where events go and what signs them outlives the request), and notes what was done.
 * @param work what to do @returns what it did, and for the audit log what was asked for; undefined notes nothing
 * @throws AppError 404; 403 where the member lost the role meanwhile
 */
export function withLockedWebhook<T>(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  { teamId, webhookId, by }: WebhookTarget,
  action: AuditAction,
  work: (
    trx: Transaction,
    webhook: WebhookRow,
  ) => Promise<{ readonly result: T; readonly noted: Readonly<Record<string, unknown>> | undefined }>,
): Promise<T> {
  return services.database.transaction(async (trx) => {
    if (!(await lockTeam(trx, teamId))) throw notFound('team');
    await recheckPermission(trx, teamId, by, 'webhooks:manage');
    const webhook = await lockWebhook(trx, teamId, webhookId);
    if (!webhook) throw notFound('webhook');
    const { result, noted } = await work(trx, webhook);
    if (noted) {
      const target = publicId('wh', webhookId);
      await recordAudit(trx, services, { by, action, teamId, target, details: noted });
    }
    return result;
  });
}
