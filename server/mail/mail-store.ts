import { mailChannel } from '#server/database/channels.ts';
import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import type { MailId } from '#server/platform/ids/ids.ts';

export interface ClaimedMail {
  readonly id: MailId;
  readonly recipient: string;
  readonly body: Buffer;
  readonly created_at: Date;
  /** After this time the mail's link is useless, and the mail is not sent. */
  readonly expires_at: Date | null;
  /** Number of attempts, this one included. It also identifies the claim: a later claim has a higher number. */
  readonly attempts: number;
}

/** The recorded error of an unsent mail whose link expired or whose invitation ended. */
export const obsoleteMailReason = 'useless';

const insert = transactionStatement<[MailId, string, Buffer, Date, Date | undefined, string | undefined]>(
  'mail.insert',
  `INSERT INTO mails (id, recipient, body, created_at, next_attempt_at, expires_at, reference)
   VALUES ($1, $2, $3, $4, $4, $5, $6)`,
);
// Locks due mails before the update and skips mails that another process has locked.
const claim = statement<[Date, Date, number, Date | null], ClaimedMail>(
  'mail.claim',
  `WITH due AS MATERIALIZED (
     SELECT id FROM mails
     WHERE body IS NOT NULL AND next_attempt_at <= $1 AND (leased_until IS NULL OR leased_until <= $1)
       AND ($4::timestamptz IS NULL OR created_at > $4)
     ORDER BY next_attempt_at LIMIT $3 FOR UPDATE SKIP LOCKED
   )
   UPDATE mails m SET attempts = m.attempts + 1, leased_until = $2 FROM due WHERE m.id = due.id
   RETURNING m.id, m.recipient, m.body, m.created_at, m.expires_at, m.attempts`,
);

/**
 * Records a mail as sent, even after the lease has ended: the mail server accepted the mail, so it must not be sent
 * again.
 */
export const recordSent = statement<[id: MailId, at: Date]>(
  'mail.finish',
  `UPDATE mails SET sent_at = $2, failed_at = NULL, body = NULL, leased_until = NULL
   WHERE id = $1 AND sent_at IS NULL`,
).run;
const retry = statement<[MailId, number, Date, string]>(
  'mail.retry',
  `UPDATE mails SET next_attempt_at = $3, leased_until = NULL, last_error = $4
   WHERE id = $1 AND attempts = $2 AND body IS NOT NULL`,
);
const giveUp = statement<[MailId, number, Date, string]>(
  'mail.give-up',
  `UPDATE mails SET failed_at = $3, body = NULL, leased_until = NULL, last_error = $4
   WHERE id = $1 AND attempts = $2 AND body IS NOT NULL RETURNING id`,
);
const cancel = transactionStatement<[string, Date, string]>(
  'mail.cancel',
  `UPDATE mails SET failed_at = $2, body = NULL, leased_until = NULL, last_error = $3
   WHERE reference = $1 AND body IS NOT NULL`,
);

/** Finds subjects of mails that were sent. @param countsWaiting whether mails that wait count, too */
export const findMailedReferences = statement<
  [references: readonly string[], countsWaiting: boolean],
  { readonly reference: string }
>(
  'mail.find-mailed',
  `SELECT reference FROM mails
   WHERE reference = ANY($1) AND (sent_at IS NOT NULL OR ($2 AND body IS NOT NULL))`,
).rows;
const countHeld = statement<[Date, number], { readonly count: number }>(
  'mail.count-held',
  'SELECT count(*) FROM (SELECT FROM mails WHERE body IS NOT NULL AND created_at <= $1 LIMIT $2) m',
);

/** Deletes mails. @param before mails with smaller ids are deleted */
export const deleteMails = statement<[before: string]>('mail.purge', 'DELETE FROM mails WHERE id < $1').run;

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
  await insert.run(trx, id, recipient, body, createdAt, expiresAt, reference);
  trx.notifyAfterCommit(mailChannel);
}

interface MailClaim {
  readonly now: Date;
  readonly leasedUntil: Date;
  readonly limit: number;
  /** During a restore hold: mails that were queued up to this time are not claimed. */
  readonly heldBefore: Date | undefined;
}

export function claimMails(
  db: Queryable,
  { now, leasedUntil, limit, heldBefore }: MailClaim,
): Promise<ClaimedMail[]> {
  return claim.rows(db, now, leasedUntil, limit, heldBefore ?? null);
}

/** Schedules the next attempt. If another process has claimed the mail meanwhile, nothing changes. */
export async function recordRetry(
  db: Queryable,
  { id, attempts }: Pick<ClaimedMail, 'id' | 'attempts'>,
  nextAttemptAt: Date,
  error: string,
): Promise<void> {
  await retry.run(db, id, attempts, nextAttemptAt, error);
}

/** Gives a mail up. @returns false if another process has claimed the mail meanwhile; nothing changes then */
export async function recordGivenUp(
  db: Queryable,
  { id, attempts }: Pick<ClaimedMail, 'id' | 'attempts'>,
  at: Date,
  error: string,
): Promise<boolean> {
  return giveUp.hasRow(db, id, attempts, at, error);
}

/** Gives up the waiting mails about a subject. A mail that is being sent may still go out. */
export async function markMailsCancelled(trx: Transaction, reference: string, at: Date): Promise<void> {
  await cancel.run(trx, reference, at, obsoleteMailReason);
}

/**
 * Counts mails that a restore hold holds back. @returns the number of waiting mails from up to `heldBefore`, at most
 * `max`
 */
export async function countHeldMails(db: Queryable, heldBefore: Date, max: number): Promise<number> {
  return (await countHeld.row(db, heldBefore, max))?.count ?? 0;
}
