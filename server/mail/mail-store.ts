import { mailChannel } from '#server/database/channels.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Queryable, Transaction } from '#server/database/statement.ts';
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

interface NewMail {
  readonly id: MailId;
  readonly recipient: string;
  readonly body: Buffer;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly reference: string | null;
}

const insert = transactionQuery<NewMail>(
  'mail.insert',
  `INSERT INTO mails (id, recipient, body, created_at, next_attempt_at, expires_at, reference)
   VALUES (:id, :recipient, :body, :createdAt, :createdAt, :expiresAt, :reference)`,
).run;

/** Inserts a mail. The mail workers are notified once the transaction has committed. */
export async function insertMail(trx: Transaction, mail: NewMail): Promise<void> {
  await insert(trx, mail);
  trx.notifyAfterCommit(mailChannel);
}

interface MailClaim {
  readonly now: Date;
  readonly leasedUntil: Date;
  readonly limit: number;
  /** During a restore hold: mails that were queued up to this time are not claimed. */
  readonly heldBefore: Date | null;
}

/** Claims due mails. It locks them before the update and skips mails that another process has locked. */
export const claimMails = query<MailClaim, ClaimedMail>(
  'mail.claim',
  `WITH due AS MATERIALIZED (
     SELECT id FROM mails
     WHERE body IS NOT NULL AND next_attempt_at <= :now AND (leased_until IS NULL OR leased_until <= :now)
       AND (:heldBefore::timestamptz IS NULL OR created_at > :heldBefore)
     ORDER BY next_attempt_at LIMIT :limit FOR UPDATE SKIP LOCKED
   )
   UPDATE mails m SET attempts = m.attempts + 1, leased_until = :leasedUntil FROM due WHERE m.id = due.id
   RETURNING m.id, m.recipient, m.body, m.created_at, m.expires_at, m.attempts`,
).rows;

/**
 * Records a mail as sent, even after the lease has ended: the mail server accepted the mail, so it must not be sent
 * again.
 */
export const recordSent = query<{ id: MailId; at: Date }>(
  'mail.finish',
  `UPDATE mails SET sent_at = :at, failed_at = NULL, body = NULL, leased_until = NULL
   WHERE id = :id AND sent_at IS NULL`,
).run;

/** A failed attempt of a mail. If another process has claimed the mail meanwhile, it changes nothing. */
interface FailedAttempt {
  readonly id: MailId;
  readonly attempts: number;
  readonly error: string;
}

/** Schedules the next attempt. */
export const recordRetry = query<FailedAttempt & { next: Date }>(
  'mail.retry',
  `UPDATE mails SET next_attempt_at = :next, leased_until = NULL, last_error = :error
   WHERE id = :id AND attempts = :attempts AND body IS NOT NULL`,
).run;

/** Gives a mail up. @returns false if another process has claimed the mail meanwhile */
export const recordGivenUp = query<FailedAttempt & { at: Date }>(
  'mail.give-up',
  `UPDATE mails SET failed_at = :at, body = NULL, leased_until = NULL, last_error = :error
   WHERE id = :id AND attempts = :attempts AND body IS NOT NULL RETURNING id`,
).hasRow;

/** Gives up the waiting mails about a subject. A mail that is being sent may still go out. */
export const markMailsCancelled = transactionQuery<{ reference: string; at: Date }>(
  'mail.cancel',
  `UPDATE mails SET failed_at = :at, body = NULL, leased_until = NULL, last_error = '${obsoleteMailReason}'
   WHERE reference = :reference AND body IS NOT NULL`,
).run;

/** Finds subjects of mails that were sent. With `countsWaiting`, mails that wait count, too. */
export const findMailedReferences = query<
  { references: readonly string[]; countsWaiting: boolean },
  { readonly reference: string }
>(
  'mail.find-mailed',
  `SELECT reference FROM mails
   WHERE reference = ANY(:references) AND (sent_at IS NOT NULL OR (:countsWaiting AND body IS NOT NULL))`,
).rows;

const countHeld = query<{ heldBefore: Date; limit: number }, { count: number }>(
  'mail.count-held',
  'SELECT count(*) FROM (SELECT FROM mails WHERE body IS NOT NULL AND created_at <= :heldBefore LIMIT :limit) m',
).number;

/** Counts mails that a restore hold holds back: the waiting ones from up to `heldBefore`, at most `limit`. */
export function countHeldMails(db: Queryable, heldBefore: Date, limit: number): Promise<number> {
  return countHeld(db, { heldBefore, limit });
}

/** Deletes mails with ids below `before`. */
export const deleteMails = query<{ before: string }>(
  'mail.purge',
  'DELETE FROM mails WHERE id < :before',
).run;
