import type { AccountRow } from '#server/accounts/account/account-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { MailContent } from '#server/mail/mail-template.ts';
import { isMailEnabled, queueMail } from '#server/mail/queue-mail.ts';

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
export function createSendMagicLink(
  services: Pick<Runtime, 'config' | 'clock' | 'ids' | 'secrets'>,
): SendMagicLink | undefined {
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
