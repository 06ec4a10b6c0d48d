import type { Config } from '#server/platform/config.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import type { MailHealth } from './mail-health.ts';
import type { CheckServer } from './smtp-sender.ts';

/**
 * Connects and signs in to the mail server once at start, and logs a failure in a sentence. The start does not wait for
 * it: the first mail finds a mail server that starts later.
 */
export async function checkMailServer(
  check: CheckServer,
  { server }: NonNullable<Config['mail']>,
  health: MailHealth,
  logger: Logger,
): Promise<void> {
  const error = await check();
  if (error === undefined) return;
  health.fails = true;
  logger.warn(
    `No mail can be sent: the server of SMTP_URL, ${server.host}:${server.port}, failed with ${error}. ${adviceOn(error)} ` +
      'Mail waits and is tried again for a day; until one is sent, invitations show their link as well.',
  );
}

function adviceOn(error: string): string {
  if (/\b(ENOTFOUND|EDNS|EAI_AGAIN)\b/.test(error)) return 'Check the host name in SMTP_URL.';
  if (/\b(EAUTH|AUTH|ENOAUTH)\b/.test(error)) return 'Check the user and the password in SMTP_URL.';
  if (/\b(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)\b/.test(error)) {
    return 'Check the host and the port in SMTP_URL, and whether a firewall is between.';
  }
  return 'Check whether SMTP_URL begins with smtps:// (TLS from the first byte) or smtp:// as the server expects, and its certificate.';
}
