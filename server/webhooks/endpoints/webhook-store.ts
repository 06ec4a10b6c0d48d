import type { EventType } from '#contract/event.ts';
import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import type { TeamId, WebhookId } from '#server/platform/ids/ids.ts';

/** Settings that members change, and the state that a change resets, such as the failure count. */
export interface WebhookSettings {
  readonly url: string;
  readonly events: readonly EventType[];
  readonly phone_number: string | null;
  readonly is_active: boolean;
  readonly failure_count: number;
  readonly generation: number;
  readonly disabled_at: Date | null;
  readonly disabled_by: 'member' | 'failures' | null;
}

/** A webhook without its secrets, so that code which only shows webhooks never has them. */
export interface WebhookRow extends WebhookSettings {
  readonly team_id: TeamId;
  readonly id: WebhookId;
  readonly last_triggered_at: Date | null;
  /** The end of the latest rotation, perhaps in the past; null once a rotation was finished, or before the first. */
  readonly next_secret_from: Date | null;
  readonly created_at: Date;
}

/** Counts of a team's webhooks by state. */
export interface WebhookHealth {
  readonly total: number;
  /** Active webhooks whose last attempt failed. */
  readonly failing: number;
  /** Webhooks that were disabled after failures. */
  readonly disabled: number;
}

const columns = `team_id, id, url, events, phone_number, is_active, failure_count, generation, disabled_at, disabled_by,
  last_triggered_at, next_secret_from, created_at`;

const insert = transactionStatement<
  [TeamId, WebhookId, string, readonly EventType[], string | null, Buffer, Date],
  WebhookRow
>(
  'webhooks.insert',
  `INSERT INTO webhooks (team_id, id, url, events, phone_number, secret, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${columns}`,
  { changes: 'webhook', team: '$1', ids: '$2' },
);

export const listWebhooks = statement<[teamId: TeamId], WebhookRow>(
  'webhooks.list',
  `SELECT ${columns} FROM webhooks WHERE team_id = $1 ORDER BY id`,
).rows;

export const findWebhook = statement<[teamId: TeamId, webhookId: WebhookId], WebhookRow>(
  'webhooks.find',
  `SELECT ${columns} FROM webhooks WHERE team_id = $1 AND id = $2`,
).row;

/** Locks a webhook FOR UPDATE, to enable, disable, change, delete or replay it (decision 0017). */
export const lockWebhook = transactionStatement<[teamId: TeamId, webhookId: WebhookId], WebhookRow>(
  'webhooks.lock',
  `SELECT ${columns} FROM webhooks WHERE team_id = $1 AND id = $2 FOR UPDATE`,
).row;

/** Locks a webhook FOR NO KEY UPDATE, to queue one attempt while it is neither deleted nor disabled. */
export const lockWebhookNoKeyUpdate = transactionStatement<
  [teamId: TeamId, webhookId: WebhookId],
  WebhookRow
>(
  'webhooks.lock-no-key-update',
  `SELECT ${columns} FROM webhooks WHERE team_id = $1 AND id = $2 FOR NO KEY UPDATE`,
).row;
const countOf = statement<[TeamId], { webhooks: number }>(
  'webhooks.count',
  'SELECT count(*) AS webhooks FROM webhooks WHERE team_id = $1',
);
const countHealth = statement<[TeamId], WebhookHealth>(
  'webhooks.count-health',
  `SELECT count(*) AS total, count(*) FILTER (WHERE is_active AND failure_count > 0) AS failing,
     count(*) FILTER (WHERE disabled_by = 'failures') AS disabled
   FROM webhooks WHERE team_id = $1`,
);
const update = transactionStatement<
  [
    TeamId,
    WebhookId,
    string,
    readonly EventType[],
    string | null,
    boolean,
    number,
    number,
    Date | null,
    'member' | 'failures' | null,
  ],
  WebhookRow
>(
  'webhooks.update',
  `UPDATE webhooks SET url = $3, events = $4, phone_number = $5, is_active = $6, failure_count = $7, generation = $8,
     disabled_at = $9, disabled_by = $10
   WHERE team_id = $1 AND id = $2 RETURNING ${columns}`,
  { changes: 'webhook', team: '$1', ids: '$2' },
);
const rotate = transactionStatement<[TeamId, WebhookId, Buffer, Date, Date]>(
  'webhooks.rotate-secret',
  // A rotation whose 24 hours are over is finished here, too, because its next secret already signs deliveries.
  `UPDATE webhooks SET secret = coalesce(next_secret, secret), next_secret = $3, next_secret_from = $4
   WHERE team_id = $1 AND id = $2 AND (next_secret_from IS NULL OR next_secret_from <= $5) RETURNING id`,
  { changes: 'webhook', team: '$1', ids: '$2' },
);
const finish = transactionStatement<[TeamId, WebhookId, Date], WebhookRow>(
  'webhooks.finish-rotation',
  `UPDATE webhooks SET secret = next_secret, next_secret = NULL, next_secret_from = NULL
   WHERE team_id = $1 AND id = $2 AND next_secret_from > $3 RETURNING ${columns}`,
  { changes: 'webhook', team: '$1', ids: '$2' },
);
const remove = transactionStatement<[TeamId, WebhookId]>(
  'webhooks.remove',
  'DELETE FROM webhooks WHERE team_id = $1 AND id = $2 RETURNING id',
  { changes: 'webhook', team: '$1', ids: '$2' },
);

export interface NewWebhook {
  readonly teamId: TeamId;
  readonly id: WebhookId;
  readonly url: string;
  readonly events: readonly EventType[];
  readonly phoneNumber: string | null;
  readonly sealedSecret: Buffer;
  readonly createdAt: Date;
}

export async function insertWebhook(trx: Transaction, webhook: NewWebhook): Promise<WebhookRow> {
  const { teamId, id, url, events, phoneNumber, sealedSecret, createdAt } = webhook;
  const row = await insert.row(trx, teamId, id, url, events, phoneNumber, sealedSecret, createdAt);
  if (!row) throw new Error('the INSERT of a webhook returned no row');
  return row;
}

export async function countWebhooks(db: Queryable, teamId: TeamId): Promise<number> {
  return (await countOf.row(db, teamId))?.webhooks ?? 0;
}

export async function countWebhookHealth(db: Queryable, teamId: TeamId): Promise<WebhookHealth> {
  return (await countHealth.row(db, teamId)) ?? { total: 0, failing: 0, disabled: 0 };
}

/** Writes the settings of a webhook that the caller has locked FOR UPDATE. */
export async function writeSettings(
  trx: Transaction,
  { team_id: teamId, id }: Pick<WebhookRow, 'team_id' | 'id'>,
  settings: WebhookSettings,
): Promise<WebhookRow> {
  const row = await update.row(
    trx,
    teamId,
    id,
    settings.url,
    settings.events,
    settings.phone_number,
    settings.is_active,
    settings.failure_count,
    settings.generation,
    settings.disabled_at,
    settings.disabled_by,
  );
  if (!row) throw new Error('a webhook was deleted although this transaction had locked it');
  return row;
}

/**
 * Begins a rotation.
 * @param from the time at which the next secret takes over
 * @returns false during a rotation
 */
export async function startRotation(
  trx: Transaction,
  { team_id: teamId, id }: Pick<WebhookRow, 'team_id' | 'id'>,
  sealedSecret: Buffer,
  from: Date,
  at: Date,
): Promise<boolean> {
  return rotate.hasRow(trx, teamId, id, sealedSecret, from, at);
}

/** Makes the next secret the current one. @returns undefined without a running rotation */
export function endRotation(
  trx: Transaction,
  { team_id: teamId, id }: Pick<WebhookRow, 'team_id' | 'id'>,
  at: Date,
): Promise<WebhookRow | undefined> {
  return finish.row(trx, teamId, id, at);
}

export async function removeWebhook(
  trx: Transaction,
  { team_id: teamId, id }: Pick<WebhookRow, 'team_id' | 'id'>,
): Promise<void> {
  await remove.run(trx, teamId, id);
}
