import type { Runtime } from '#server/database/runtime.ts';
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

type Services = Pick<Runtime, 'database' | 'clock' | 'secrets' | 'logger'>;

/**
 * Sends queued mail (specification section 10.6). A mail is claimed with a lease, sent without a transaction open,
 * and its outcome is written afterwards. Several processes take different mails. If one dies between the server's OK
 * and the write of the outcome, the mail is sent again after its lease, with the same Message-ID.
 *
 * Attempts in progress at a stop have 5 s and are then aborted, which counts as a failed attempt.
 */
export class MailWorker {
  readonly #services: Services;
  readonly #send: SendMail;
  readonly #count: (end: MailAttemptResult) => void;
  readonly #worker: QueueWorker<ClaimedMail>;

  /** @param count called with the result of each attempt, after it was written */
  constructor(services: Services, send: SendMail, count: (end: MailAttemptResult) => void) {
    this.#services = services;
    this.#send = send;
    this.#count = count;
    const { database, clock, logger } = services;
    this.#worker = new QueueWorker({
      name: 'send mail',
      clock,
      logger,
      sweepMs,
      runningMax: mailAttemptsInFlightMax,
      stopMs: mailStopMs,
      claim: ({ length }) =>
        claimMails(database.pool, clock.now(), clock.in(mailLeaseMs), mailAttemptsInFlightMax - length),
      run: (mail, signal) => this.#attempt(mail, signal),
    });
  }

  start(): void {
    this.#worker.start();
  }

  /** Requests a round, because new mail may wait. */
  notify(): void {
    this.#worker.notify();
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /** Never rejects: a mail whose outcome could not be written is tried again after its lease. */
  async #attempt(mail: ClaimedMail, stopping: AbortSignal): Promise<void> {
    const startedAt = this.#services.clock.now();
    try {
      await this.#record(mail, startedAt, await this.#try(mail, startedAt, stopping));
    } catch (error) {
      this.#services.logger.error(
        { err: error, mail: publicId('mail', mail.id) },
        'recording the outcome of a mail failed; it is sent again when its lease ends',
      );
    }
  }

  async #try(mail: ClaimedMail, startedAt: Date, stopping: AbortSignal): Promise<MailSendOutcome> {
    const { clock, secrets } = this.#services;
    // While the time is uncertain, a useless mail is better than one that is given up wrongly.
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

/** Deletes rows of mails after 30 days (specification section 10.6). */
export async function purgeMails({ database, clock }: Pick<Runtime, 'database' | 'clock'>): Promise<void> {
  await deleteMails(database.pool, firstIdAt(clock.nowMs() - mailRetentionMs));
}
