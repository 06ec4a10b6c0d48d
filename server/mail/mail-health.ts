import { Counter } from 'prom-client';
import { type Queryable, query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Config } from '#server/platform/config.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { ageSeconds, gauges } from '#server/platform/process/metrics.ts';
import type { CheckServer } from './smtp-sender.ts';

/** Result of an attempt to send a mail; `failed` is retried later, `given_up` is not. */
export type MailAttemptResult = 'sent' | 'failed' | 'given_up';

/** The latest state of the SMTP_URL server, and the attempts so far, as seen by this process. */
export class MailHealth {
  isFailing = false;
  readonly attempts: Record<MailAttemptResult, number> = { sent: 0, failed: 0, given_up: 0 };

  note(end: MailAttemptResult): void {
    this.attempts[end] += 1;
    if (end === 'sent') this.isFailing = false;
  }
}

// Sending of mail fails if some mail waits after an error and no mail was sent later, by any process. Errors about one
// recipient or content (`to RCPT TO`, `to DATA`) do not count, because they concern one mail only.
const hasFailing = query(
  'mail.find-failing',
  // Each subquery uses an index, even in a plan that PostgreSQL made while the table was empty.
  `SELECT FROM (
     SELECT id, last_error FROM mails WHERE body IS NOT NULL AND next_attempt_at > '-infinity'
     ORDER BY next_attempt_at LIMIT 100
   ) f
   LEFT JOIN LATERAL (
     SELECT s.id FROM mails s WHERE s.id > f.id AND s.sent_at IS NOT NULL ORDER BY s.id LIMIT 1
   ) later ON true
   WHERE f.last_error !~ ' to (RCPT TO|DATA)$' AND later.id IS NULL LIMIT 1`,
).hasRow;

/** True if sending of mail fails at present: responses then also contain the links, for copying. */
export async function isMailFailing(db: Queryable, health: MailHealth): Promise<boolean> {
  return health.isFailing || hasFailing(db);
}

/**
 * Connects and signs in to the mail server once at start, and logs a failure with advice. The start of the service does
 * not wait for the check. A mail server that starts later is used from the next mail on.
 */
export async function checkMailServer(
  check: CheckServer,
  { server }: NonNullable<Config['mail']>,
  health: MailHealth,
  logger: Logger,
): Promise<void> {
  const error = await check();
  if (error === undefined) return;
  health.isFailing = true;
  logger.warn(
    `No mail can be sent: the server of SMTP_URL, ${server.host}:${server.port}, failed with ${error}. ${adviceOn(error)} ` +
      'Mail waits and is retried for a day. Until a mail is sent, invitations show their link as well.',
  );
}

/** Returns advice for an error of the mail server. @param error error codes, as a CheckServer returns them */
export function adviceOn(error: string): string {
  if (/\b(ENOTFOUND|EDNS|EAI_AGAIN)\b/.test(error)) return 'Check the host name in SMTP_URL.';
  if (/\b(EAUTH|AUTH|ENOAUTH)\b/.test(error)) return 'Check the user and the password in SMTP_URL.';
  if (/\b(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)\b/.test(error)) {
    return 'Check the host and the port in SMTP_URL, and whether a firewall is between.';
  }
  return 'Check the certificate of the server, and whether it expects smtps:// (TLS from the first byte) or smtp:// in SMTP_URL.';
}

const readQueue = query<object, { depth: number; oldest: Date | null }>(
  'mail.waiting',
  'SELECT count(*) AS depth, min(created_at) AS oldest FROM mails WHERE body IS NOT NULL',
).one;

/**
 * Registers gauges of the waiting mails of all processes, queried for each request of /metrics, and a counter of this
 * process's attempts (specification section 10.4).
 */
export function registerMailMetrics({ database, clock, metrics }: Runtime, health: MailHealth): void {
  gauges({ metrics, clock }, () => readQueue(database.pool), {
    ownline_mails_queued: ['Mails that wait to be sent.', ({ depth }) => depth],
    ownline_mails_oldest_seconds: [
      'How long the oldest mail that waits to be sent has waited.',
      ({ oldest }) => ageSeconds(clock, oldest),
    ],
  });
  new Counter({
    name: 'ownline_mail_attempts_total',
    help: 'Attempts to send a mail by outcome: sent, failed and retried, or given up.',
    labelNames: ['end'] as const,
    registers: [metrics],
    collect() {
      this.reset();
      for (const [end, attempts] of Object.entries(health.attempts)) this.inc({ end }, attempts);
    },
  });
}
