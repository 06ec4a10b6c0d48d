import type { EventType } from '#contract/event.ts';
import { type AuditAction, recordAudit } from '#server/audit/audit.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import { publicId, type TeamId, type WebhookId } from '#server/platform/ids.ts';
import { runTeamChange } from '#server/teams/members/members.ts';

/** The ids of a webhook and its team. */
export interface WebhookIds {
  readonly teamId: TeamId;
  readonly webhookId: WebhookId;
}

/** A webhook without its secrets, so that code which only shows webhooks never has them. */
export interface WebhookRow {
  readonly team_id: TeamId;
  readonly id: WebhookId;
  readonly url: string;
  readonly events: readonly EventType[];
  readonly phone_number: string | null;
  readonly is_active: boolean;
  readonly failure_count: number;
  readonly generation: number;
  readonly disabled_at: Date | null;
  readonly disabled_by: 'member' | 'failures' | null;
  readonly last_triggered_at: Date | null;
  /** The end of the latest rotation, perhaps in the past; null once a rotation was finished, or before the first. */
  readonly next_secret_from: Date | null;
  readonly created_at: Date;
}

const columns = `team_id, id, url, events, phone_number, is_active, failure_count, generation, disabled_at, disabled_by,
  last_triggered_at, next_secret_from, created_at`;

export const insertWebhook = transactionQuery<
  WebhookIds &
    Pick<WebhookRow, 'url' | 'events'> & {
      phoneNumber: string | null;
      sealedSecret: Buffer;
      createdAt: Date;
    },
  WebhookRow
>(
  'webhooks.insert',
  `INSERT INTO webhooks (team_id, id, url, events, phone_number, secret, created_at)
   VALUES (:teamId, :webhookId, :url, :events, :phoneNumber, :sealedSecret, :createdAt) RETURNING ${columns}`,
  { changes: 'webhook', team: ':teamId', ids: ':webhookId' },
).one;

export const listWebhooks = query<{ teamId: TeamId }, WebhookRow>(
  'webhooks.list',
  `SELECT ${columns} FROM webhooks WHERE team_id = :teamId ORDER BY id`,
).rows;

export const findWebhook = query<WebhookIds, WebhookRow>(
  'webhooks.find',
  `SELECT ${columns} FROM webhooks WHERE team_id = :teamId AND id = :webhookId`,
).row;

/** Locks a webhook FOR UPDATE, to enable, disable, change, delete or replay it (decision 0017). */
export const lockWebhook = transactionQuery<WebhookIds, WebhookRow>(
  'webhooks.lock',
  `SELECT ${columns} FROM webhooks WHERE team_id = :teamId AND id = :webhookId FOR UPDATE`,
).row;

/** Locks a webhook FOR NO KEY UPDATE, to queue one attempt while it is neither deleted nor disabled. */
export const lockWebhookNoKeyUpdate = transactionQuery<WebhookIds, WebhookRow>(
  'webhooks.lock-no-key-update',
  `SELECT ${columns} FROM webhooks WHERE team_id = :teamId AND id = :webhookId FOR NO KEY UPDATE`,
).row;

export const countWebhooks = query<{ teamId: TeamId }, { webhooks: number }>(
  'webhooks.count',
  'SELECT count(*) AS webhooks FROM webhooks WHERE team_id = :teamId',
).number;

/** Counts the webhooks of a team: all, active ones whose last attempt failed, and those that failures disabled. */
export const countWebhookHealth = query<
  { teamId: TeamId },
  { total: number; failing: number; disabled: number }
>(
  'webhooks.count-health',
  `SELECT count(*) AS total, count(*) FILTER (WHERE is_active AND failure_count > 0) AS failing,
     count(*) FILTER (WHERE disabled_by = 'failures') AS disabled
   FROM webhooks WHERE team_id = :teamId`,
).one;

/**
 * Writes the settings of a webhook that the caller has locked FOR UPDATE, and the state that a change resets, such as the
 * failure count.
 */
export const writeSettings = transactionQuery<WebhookRow, WebhookRow>(
  'webhooks.update',
  `UPDATE webhooks SET url = :url, events = :events, phone_number = :phone_number, is_active = :is_active,
     failure_count = :failure_count, generation = :generation, disabled_at = :disabled_at, disabled_by = :disabled_by
   WHERE team_id = :team_id AND id = :id RETURNING ${columns}`,
  { changes: 'webhook', team: ':team_id', ids: ':id' },
).one;

/**
 * Begins a rotation, whose next secret takes over at `takesOverAt`. It finishes a rotation whose 24 hours are over,
 * too, because only its next secret signs deliveries by then.
 * @returns false during a rotation
 */
export const startRotation = transactionQuery<
  WebhookIds & { sealedSecret: Buffer; takesOverAt: Date; at: Date }
>(
  'webhooks.rotate-secret',
  `UPDATE webhooks SET secret = coalesce(next_secret, secret), next_secret = :sealedSecret, next_secret_from = :takesOverAt
   WHERE team_id = :teamId AND id = :webhookId AND (next_secret_from IS NULL OR next_secret_from <= :at) RETURNING id`,
  { changes: 'webhook', team: ':teamId', ids: ':webhookId' },
).hasRow;

/** Makes the next secret the current one. @returns undefined without a running rotation */
export const endRotation = transactionQuery<WebhookIds & { at: Date }, WebhookRow>(
  'webhooks.finish-rotation',
  `UPDATE webhooks SET secret = next_secret, next_secret = NULL, next_secret_from = NULL
   WHERE team_id = :teamId AND id = :webhookId AND next_secret_from > :at RETURNING ${columns}`,
  { changes: 'webhook', team: ':teamId', ids: ':webhookId' },
).row;

export const removeWebhook = transactionQuery<WebhookIds>(
  'webhooks.remove',
  'DELETE FROM webhooks WHERE team_id = :teamId AND id = :webhookId RETURNING id',
  { changes: 'webhook', team: ':teamId', ids: ':webhookId' },
).run;

export interface WebhookTarget extends WebhookIds {
  readonly by: AuditActor;
}

/**
 * Runs a change under the locks of the team and the webhook. It rechecks the member's permission, because url and
 * secrets outlive the request, and records the change in the audit log.
 * @param work makes the change; it returns the result and the audit details, which are undefined for no entry
 * @throws AppError 404; 403 if the member has lost the role meanwhile
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
