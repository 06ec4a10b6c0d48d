import type { Config } from '#server/platform/config.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import type { MailHealth } from './mail-health.ts';
import type { CheckServer } from './smtp-sender.ts';

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

/** Advice for an error of the mail server. @param error codes, as a CheckServer returns them */
export function adviceOn(error: string): string {
  if (/\b(ENOTFOUND|EDNS|EAI_AGAIN)\b/.test(error)) return 'Check the host name in SMTP_URL.';
  if (/\b(EAUTH|AUTH|ENOAUTH)\b/.test(error)) return 'Check the user and the password in SMTP_URL.';
  if (/\b(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)\b/.test(error)) {
    return 'Check the host and the port in SMTP_URL, and whether a firewall is between.';
  }
  return 'Check the certificate of the server, and whether it expects smtps:// (TLS from the first byte) or smtp:// in SMTP_URL.';
}
