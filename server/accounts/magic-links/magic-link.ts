import type { AccountRow } from '#server/accounts/account/account-store.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { MailContent } from '#server/mail/mail-template.ts';
import { isMailEnabled, queueMail } from '#server/mail/queue-mail.ts';
import { type AuditActor, operator } from '#server/platform/actor.ts';
import { randomToken, sha256 } from '#server/platform/crypto.ts';
import { insertMagicLink } from './magic-link-store.ts';

interface LinkOptions {
  readonly hours: number;
  /** The actor that the audit log records; the operator by default. */
  readonly by?: AuditActor;
}

/**
 * Creates a magic link, which signs in to an existing account, once. Only the hash of its token is stored.
 * @returns its url `{app_url}/link/<token>`, for display or mail only, and when it expires
 */
export async function createMagicLink(
  trx: Transaction,
  services: Runtime,
  account: Pick<AccountRow, 'id'>,
  { hours, by = operator }: LinkOptions,
): Promise<{ readonly url: string; readonly expiresAt: Date }> {
  const { ids, clock, config } = services;
  const now = clock.now();
  const expiresAt = clock.in(hours * 3_600_000, now);
  const token = randomToken();
  await insertMagicLink(trx, {
    id: ids.next('alk'),
    accountId: account.id,
    tokenHash: sha256(token),
    createdAt: now,
    expiresAt,
  });
  await recordAudit(trx, services, {
    by,
    action: 'account.link_made',
    accountId: account.id,
    details: { hours },
  });
  return { url: `${config.appUrl}/link/${token}`, expiresAt };
}

/** Queues the mail with a magic link in the transaction that creates the link. @param url valid until `expiresAt` */
export type SendMagicLink = (
  trx: Transaction,
  account: Pick<AccountRow, 'email'>,
  url: string,
  expiresAt: Date,
) => Promise<void>;

/**
 * Creates the function that mails magic links. @returns undefined if this server sends no mail (specification section
 * 12.5)
 */
export function createSendMagicLink(services: Runtime): SendMagicLink | undefined {
  if (!isMailEnabled(services.config)) return undefined;
  return async (trx, account, url, expiresAt) => {
    const mail = { to: account.email, message: magicLinkMail(url), expiresAt };
    await queueMail(trx, services, mail);
  };
}

export function magicLinkMail(url: string): MailContent {
  return {
    subject: 'Your link to sign in',
    heading: 'Sign in to Ownline',
    paragraphs: ['Open this link on the device on which you want to sign in. It works once, for 30 minutes.'],
    action: { label: 'Sign in', url },
    footnote: 'If you did not ask for this link, ignore this mail: without the link no one can sign in.',
  };
}
