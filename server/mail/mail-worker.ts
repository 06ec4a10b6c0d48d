import type { Runtime } from '#server/database/runtime.ts';
import type { Loop } from '#server/platform/concurrency/loop.ts';
import { QueueWorker } from '#server/platform/concurrency/queue-worker.ts';
import { firstIdAt, publicId } from '#server/platform/ids/ids.ts';
import {
  mailAttemptMs,
  mailAttemptsInFlightMax,
  mailLeaseMs,
  mailRetentionMs,
  mailStopMs,
} from './limits.ts';
import type { MailAttemptResult } from './mail-metrics.ts';
import { nextMailAttemptAt, staleMs } from './mail-schedule.ts';
import {
  type ClaimedMail,
  claimMails,
  deleteMails,
  obsoleteMailReason,
  recordGivenUp,
  recordRetry,
  recordSent,
} from './mail-store.ts';
import { openMail } from './sealed-mail.ts';
import type { MailSendOutcome, SendMail } from './smtp-sender.ts';

const sweepMs = 1_000;

type Services = Pick<Runtime, 'database' | 'clock' | 'secrets' | 'logger' | 'restoreHold'>;

/**
 * Queue worker that sends mail (specification section 10.6). A mail is claimed with a lease and sent outside a
 * transaction; its outcome is written afterwards. Several processes claim different mails. If a process dies between
 * the mail server's OK and the write, the mail is sent again after its lease, with the same Message-ID.
 *
 * During a restore hold only mails that were queued after the restore are sent.
 *
 * At a stop, attempts in progress have 5 s. Then they are aborted, which counts as a failed attempt.
 */
export class MailWorker {
  readonly #services: Services;
  readonly #send: SendMail;
  readonly #count: (end: MailAttemptResult) => void;
  readonly #worker: QueueWorker<ClaimedMail>;

  /** @param count called with the result of each attempt, once it is written */
  constructor(services: Services, send: SendMail, count: (end: MailAttemptResult) => void) {
    this.#services = services;
    this.#send = send;
    this.#count = count;
    const { database, clock, logger, restoreHold } = services;
    this.#worker = new QueueWorker({
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
          heldBefore: restoreHold.heldBefore,
        }),
      run: (mail, signal) => this.#attempt(mail, signal),
    });
  }

  get loops(): readonly Loop[] {
    return this.#worker.loops;
  }

  start(): void {
    this.#worker.start();
  }

  /** Requests a round, because a mail may be due. */
  notify(): void {
    this.#worker.notify();
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /** Never rejects: a mail whose outcome could not be written is sent again after its lease. */
  async #attempt(mail: ClaimedMail, stopping: AbortSignal): Promise<void> {
    const startedAt = this.#services.clock.now();
    try {
      await this.#record(mail, startedAt, await this.#try(mail, startedAt, stopping));
    } catch (error) {
      this.#services.logger.error(
        { err: error, mail: publicId('mail', mail.id) },
        'recording the outcome of a mail failed; the mail is sent again when its lease ends',
      );
    }
  }

  async #try(mail: ClaimedMail, startedAt: Date, stopping: AbortSignal): Promise<MailSendOutcome> {
    const { clock, secrets } = this.#services;
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
    return this.#send(outgoing, signal).finally(cancel);
  }

  async #record(mail: ClaimedMail, startedAt: Date, outcome: MailSendOutcome): Promise<void> {
    const { database, clock, logger } = this.#services;
    if (outcome.kind === 'sent') {
      await recordSent(database.pool, mail.id, clock.now());
      return this.#count('sent');
    }
    const { error } = outcome;
    const line = { mail: publicId('mail', mail.id), attempt: mail.attempts, error };
    const next = outcome.kind === 'failed' ? nextMailAttemptAt(mail.attempts, startedAt) : undefined;
    if (next) {
      await recordRetry(database.pool, mail, next, error);
      this.#count('failed');
      logger.info({ ...line, next }, 'a mail was not accepted; the server retries');
    } else if (await recordGivenUp(database.pool, mail, clock.now(), error)) {
      this.#count('given_up');
      logger.warn(line, 'a mail was given up');
    }
  }
}

/** Deletes the rows of mails after 30 days (specification section 10.6). */
export async function purgeMails({ database, clock }: Pick<Runtime, 'database' | 'clock'>): Promise<void> {
  await deleteMails(database.pool, firstIdAt(clock.nowMs() - mailRetentionMs));
}
