import { mailChannel } from '#server/database/channels.ts';
import { futureSlackMs } from '#server/database/limits.ts';
import { type Queryable, query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Secrets } from '#server/platform/crypto.ts';
import { type MailId, publicId } from '#server/platform/ids.ts';
import type { RenderedMail } from './mail-template.ts';

/**
 * Duration of a lease: longer than an attempt and the write of its outcome, so that only a dead process loses its
 * lease.
 */
export const mailLeaseMs = 120_000;

const minute = 60_000;
const hour = 60 * minute;

/** Backoff of mail: the times of the attempts, relative to the first one (specification section 10.6). */
const attemptOffsetsMs: readonly number[] = [
  0,
  minute,
  5 * minute,
  30 * minute,
  2 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
];

/** Age at which a waiting mail is given up, because the links in it have expired. */
export const staleMs = 48 * hour;

/**
 * Returns the time of the next attempt. The delay counts from the failed attempt, so that late attempts keep the same
 * delay.
 * @param attempts the number of attempts so far, the failed one included
 * @param startedAt the start of the failed attempt
 * @returns undefined after the last attempt
 */
export function nextMailAttemptAt(attempts: number, startedAt: Date): Date | undefined {
  const [last, next] = attemptOffsetsMs.slice(attempts - 1, attempts + 1);
  return last === undefined || next === undefined ? undefined : new Date(startedAt.getTime() + next - last);
}

/** Identifies the mail that a sealed body belongs to. The body can't be opened for another id or recipient. */
interface Envelope {
  readonly id: MailId;
  readonly recipient: string;
}

/** Seals the body of a mail for the table, because its links sign people in (specification section 10.6). */
export function sealMail(secrets: Secrets, envelope: Envelope, mail: RenderedMail): Buffer {
  return secrets.seal(purposeOf(envelope), JSON.stringify(mail));
}

/** Opens the sealed body of a mail. @returns undefined for a body that was changed, or that belongs to another mail */
export function openMail(secrets: Secrets, envelope: Envelope, sealed: Buffer): RenderedMail | undefined {
  try {
    return JSON.parse(secrets.open(purposeOf(envelope), sealed)) as RenderedMail;
  } catch {
    return undefined;
  }
}

function purposeOf({ id, recipient }: Envelope): string {
  return `mail ${publicId('mail', id)} to ${recipient}`;
}

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

/**
 * A failed attempt of a mail. If another process has claimed the mail meanwhile, recording the attempt changes nothing.
 */
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

/** Finds the subjects of mails that were sent. With `countsWaiting`, mails that wait count as sent. */
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

/**
 * Counts mails that a restore hold holds back: the waiting mails that were queued up to `heldBefore`. The count stops
 * at `limit`.
 */
export function countHeldMails(db: Queryable, heldBefore: Date, limit: number): Promise<number> {
  return countHeld(db, { heldBefore, limit });
}

export const deleteMails = query<{ before: string }>(
  'mail.purge',
  'DELETE FROM mails WHERE id < :before',
).run;

/**
 * Extends the leases of mails in an attempt before the service's time steps ahead, so that the leases do not end early.
 */
export const postponeMailLeases = transactionQuery<{ now: Date; byMs: number }>(
  'mail.postpone-leases',
  `UPDATE mails SET leased_until = leased_until + make_interval(secs => :byMs / 1000.0)
   WHERE body IS NOT NULL AND leased_until > :now`,
).run;
/** Ends the leases of mails in a restored database: the processes that held them are gone. */
export const endMailLeases = transactionQuery(
  'mail.end-leases',
  'UPDATE mails SET leased_until = NULL WHERE body IS NOT NULL AND leased_until IS NOT NULL',
).run;
/** Upper bound on the mails that are read to find those with a lease, which come first in the order of due times. */
const leasedMax = 1_000;

// `:gapsMs` holds, for each number of attempts, the delay until the next one in milliseconds. An untried mail is due at once.
const limitFutureTimes = query<{ now: Date; gapsMs: number[]; leaseEnd: Date; slack: string }>(
  'mail.limit-times',
  `WITH found AS MATERIALIZED (
     SELECT id FROM mails WHERE body IS NOT NULL AND next_attempt_at > :now
     UNION ALL
     (SELECT id FROM mails WHERE body IS NOT NULL AND next_attempt_at <= :now ORDER BY next_attempt_at LIMIT ${leasedMax})
   ), far AS MATERIALIZED (
     SELECT id, :now::timestamptz + make_interval(secs => coalesce((:gapsMs::bigint[])[attempts], 0) / 1000.0) AS latest FROM mails
     WHERE id = ANY (ARRAY(SELECT id FROM found)) AND body IS NOT NULL FOR UPDATE SKIP LOCKED
   )
   UPDATE mails m SET
     next_attempt_at = CASE WHEN m.next_attempt_at > f.latest + :slack::interval THEN f.latest ELSE m.next_attempt_at END,
     leased_until = CASE WHEN m.leased_until > :leaseEnd::timestamptz + :slack::interval THEN :leaseEnd ELSE m.leased_until END
   FROM far f WHERE m.id = f.id
     AND (m.next_attempt_at > f.latest + :slack::interval OR m.leased_until > :leaseEnd::timestamptz + :slack::interval)`,
);

/**
 * After a step back of the service's time, limits the times of next attempts and of leases to what the schedule allows
 * from now.
 */
export async function limitMailTimes({ database, clock }: Runtime): Promise<void> {
  const gapsMs = attemptOffsetsMs
    .slice(1)
    .map((offsetMs, index) => offsetMs - (attemptOffsetsMs[index] ?? 0));
  await limitFutureTimes.run(database.pool, {
    now: clock.now(),
    gapsMs,
    leaseEnd: clock.in(mailLeaseMs),
    slack: `${futureSlackMs} milliseconds`,
  });
}
