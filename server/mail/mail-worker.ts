import type { Runtime } from '#server/database/runtime.ts';
import { QueueWorker } from '#server/platform/concurrency/queue-worker.ts';
import { firstIdAt, publicId } from '#server/platform/ids.ts';
import type { MailAttemptResult, MailHealth } from './mail-health.ts';
import {
  type ClaimedMail,
  claimMails,
  deleteMails,
  mailLeaseMs,
  nextMailAttemptAt,
  obsoleteMailReason,
  openMail,
  recordGivenUp,
  recordRetry,
  recordSent,
  staleMs,
} from './mail-store.ts';
import type { MailSendOutcome, SendMail } from './smtp-sender.ts';

/** Upper bound on concurrent attempts of a process. */
const mailAttemptsInFlightMax = 4;

/** Time-out of a whole attempt, however slowly the mail server answers. */
const mailAttemptMs = 60_000;

/** How long a stop waits for attempts in progress before it aborts them. */
const mailStopMs = 5_000;

/** Retention of a mail's row, sent or not (specification section 10.6). */
const mailRetentionMs = 30 * 24 * 3_600_000;

const sweepMs = 1_000;

/**
 * Queue worker that sends mail (specification section 10.6). A mail is claimed with a lease and sent outside a
 * transaction; its outcome is written afterwards. Several processes claim different mails. If a process dies between
 * the mail server's OK and the write, the mail is sent again after its lease, with the same Message-ID.
 *
 * During a restore hold only mails that were queued after the restore are sent.
 *
 * At a stop, attempts in progress have 5 s. Then they are aborted, which counts as a failed attempt.
 * @param health notes the result of each attempt, once it is written
 */
export function createMailWorker(
  services: Runtime,
  send: SendMail,
  health: MailHealth,
): QueueWorker<ClaimedMail> {
  const { database, clock, logger, restoreHold } = services;
  return new QueueWorker<ClaimedMail>({
    name: 'send mail',
    clock,
    logger,
    sweepMs,
    runningMax: mailAttemptsInFlightMax,
    stopMs: mailStopMs,
    claim: ({ length }) =>
      claimMails(database.pool, {
        now: clock.now(),
        leasedUntil: clock.in(mailLeaseMs),
        limit: mailAttemptsInFlightMax - length,
        heldBefore: restoreHold.heldBefore ?? null,
      }),
    run: async (mail, stopping) => {
      const startedAt = clock.now();
      try {
        const outcome = await attempt(services, send, mail, startedAt, stopping);
        const end = await record(services, mail, startedAt, outcome);
        if (end) health.note(end);
      } catch (error) {
        logger.error(
          { err: error, mail: publicId('mail', mail.id) },
          'recording the outcome of a mail failed; the mail is sent again when its lease ends',
        );
      }
    },
  });
}

async function attempt(
  { clock, secrets }: Runtime,
  send: SendMail,
  mail: ClaimedMail,
  startedAt: Date,
  stopping: AbortSignal,
): Promise<MailSendOutcome> {
  // While the time is in doubt, no mail is given up as expired: an expired link does less harm than a missing mail.
  if (clock.mayExpire) {
    if (startedAt.getTime() - mail.created_at.getTime() > staleMs)
      return { kind: 'refused', error: 'too old' };
    if (mail.expires_at && mail.expires_at <= startedAt)
      return { kind: 'refused', error: obsoleteMailReason };
  }
  const rendered = openMail(secrets, mail, mail.body);
  if (!rendered) return { kind: 'refused', error: 'unreadable body' };
  const tooLong = new AbortController();
  const cancel = clock.after(mailAttemptMs, () => tooLong.abort());
  const signal = AbortSignal.any([tooLong.signal, stopping]);
  const outgoing = { id: mail.id, to: mail.recipient, createdAt: mail.created_at, rendered };
  return send(outgoing, signal).finally(cancel);
}

/** Writes the outcome of an attempt. @returns the result to count; undefined if another process has given the mail up */
async function record(
  { database, clock, logger }: Runtime,
  mail: ClaimedMail,
  startedAt: Date,
  outcome: MailSendOutcome,
): Promise<MailAttemptResult | undefined> {
  if (outcome.kind === 'sent') {
    await recordSent(database.pool, { id: mail.id, at: clock.now() });
    return 'sent';
  }
  const { error } = outcome;
  const line = { mail: publicId('mail', mail.id), attempt: mail.attempts, error };
  const next = outcome.kind === 'failed' ? nextMailAttemptAt(mail.attempts, startedAt) : undefined;
  if (next) {
    await recordRetry(database.pool, { ...mail, error, next });
    logger.info({ ...line, next }, 'a mail was not accepted; the server retries');
    return 'failed';
  }
  if (!(await recordGivenUp(database.pool, { ...mail, error, at: clock.now() }))) return undefined;
  logger.warn(line, 'a mail was given up');
  return 'given_up';
}

export async function purgeMails({ database, clock }: Runtime): Promise<void> {
  await deleteMails(database.pool, { before: firstIdAt(clock.nowMs() - mailRetentionMs) });
}
