import { mailChannel } from '#server/database/channels.ts';
import { type Queryable, statement, type Transaction } from '#server/database/statement.ts';
import type { MailId } from '#server/platform/ids/ids.ts';

/** A mail that this process has claimed. */
export interface ClaimedMail {
  readonly id: MailId;
  readonly recipient: string;
  readonly body: Buffer;
  readonly created_at: Date;
  /** After this time the mail is useless and is not sent. */
  readonly expires_at: Date | null;
  /** Attempts so far, this one included. The number also identifies the claim: a later one has a higher number. */
  readonly attempts: number;
}

/** Mails that are neither sent nor given up. */
export interface MailQueue {
  readonly depth: number;
  readonly oldest: Date | null;
}

/** Recorded instead of an error for a mail whose link expired before it was sent. */
export const obsoleteMailReason = 'useless';

const insert = statement<Record<string, never>>(
  'mail.insert',
  `INSERT INTO mails (id, recipient, body, created_at, next_attempt_at, expires_at, reference)
   VALUES ($1, $2, $3, $4, $4, $5, $6)`,
);
// Locked before the update; rows that another process has locked are skipped.
const claim = statement<ClaimedMail>(
  'mail.claim',
  `WITH due AS MATERIALIZED (
     SELECT id FROM mails
     WHERE body IS NOT NULL AND next_attempt_at <= $1 AND (leased_until IS NULL OR leased_until <= $1)
     ORDER BY next_attempt_at LIMIT $3 FOR UPDATE SKIP LOCKED
   )
   UPDATE mails m SET attempts = m.attempts + 1, leased_until = $2 FROM due WHERE m.id = due.id
   RETURNING m.id, m.recipient, m.body, m.created_at, m.expires_at, m.attempts`,
);
const finish = statement<Record<string, never>>(
  'mail.finish',
  `UPDATE mails SET sent_at = $2, failed_at = NULL, body = NULL, leased_until = NULL
   WHERE id = $1 AND sent_at IS NULL`,
);
const retry = statement<Record<string, never>>(
  'mail.retry',
  `UPDATE mails SET next_attempt_at = $3, leased_until = NULL, last_error = $4
   WHERE id = $1 AND attempts = $2 AND body IS NOT NULL`,
);
const giveUp = statement<{ id: MailId }>(
  'mail.give-up',
  `UPDATE mails SET failed_at = $3, body = NULL, leased_until = NULL, last_error = $4
   WHERE id = $1 AND attempts = $2 AND body IS NOT NULL RETURNING id`,
);
const cancel = statement<Record<string, never>>(
  'mail.cancel',
  `UPDATE mails SET failed_at = $2, body = NULL, leased_until = NULL, last_error = $3
   WHERE reference = $1 AND body IS NOT NULL`,
);
const selectWaiting = statement<MailQueue>(
  'mail.waiting',
  'SELECT count(*) AS depth, min(created_at) AS oldest FROM mails WHERE body IS NOT NULL',
);
const purge = statement<Record<string, never>>('mail.purge', 'DELETE FROM mails WHERE id < $1');

/** Inserts a mail. The mail workers are notified once the transaction has committed. */
export async function insertMail(
  trx: Transaction,
  mail: {
    readonly id: MailId;
    readonly recipient: string;
    readonly body: Buffer;
    readonly createdAt: Date;
    readonly expiresAt: Date | undefined;
    readonly reference: string | undefined;
  },
): Promise<void> {
  const { id, recipient, body, createdAt, expiresAt, reference } = mail;
  await insert.row(trx, id, recipient, body, createdAt, expiresAt, reference);
  trx.notifyAfterCommit(mailChannel);
}

/** Claims due mails, at most `limit`, until `leasedUntil`. */
export function claimMails(
  db: Queryable,
  now: Date,
  leasedUntil: Date,
  limit: number,
): Promise<ClaimedMail[]> {
  return claim.rows(db, now, leasedUntil, limit);
}

/** Records the sending regardless of the claim, however late: a mail that the server took is not sent again. */
export async function recordSent(db: Queryable, id: MailId, at: Date): Promise<void> {
  await finish.row(db, id, at);
}

/** Changes nothing where another process has claimed the mail meanwhile. */
export async function recordRetry(
  db: Queryable,
  { id, attempts }: Pick<ClaimedMail, 'id' | 'attempts'>,
  nextAttemptAt: Date,
  error: string,
): Promise<void> {
  await retry.row(db, id, attempts, nextAttemptAt, error);
}

/** @returns false where another process has claimed the mail meanwhile, and nothing was changed */
export async function recordGivenUp(
  db: Queryable,
  { id, attempts }: Pick<ClaimedMail, 'id' | 'attempts'>,
  at: Date,
  error: string,
): Promise<boolean> {
  return (await giveUp.row(db, id, attempts, at, error)) !== undefined;
}

/** Gives up the waiting mails with a reference. One that is being sent may still arrive. */
export async function markMailsCancelled(trx: Transaction, reference: string, at: Date): Promise<void> {
  await cancel.row(trx, reference, at, obsoleteMailReason);
}

export async function readMailQueue(db: Queryable): Promise<MailQueue> {
  return (await selectWaiting.row(db)) ?? { depth: 0, oldest: null };
}

/** @param before the smallest id that stays */
export async function deleteMails(db: Queryable, before: string): Promise<void> {
  await purge.row(db, before);
}
