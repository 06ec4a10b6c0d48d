import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AccountRow } from './account-store.ts';

/** What the mail says, in the words of the slice that sends it. */
export interface LinkMessage {
  readonly subject: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  readonly action: { readonly label: string; readonly url: string };
  readonly footnote: string;
}

/** Hands a link to whoever mails it, in the transaction that makes it. @param url what the button opens */
export type SendSignInLink = (
  trx: Transaction,
  account: Pick<AccountRow, 'email'>,
  url: string,
) => Promise<void>;

/** How links reach their addresses; undefined where this server sends no mail (specification section 12.5). */
export function createSendSignInLink(_services: Pick<Runtime, 'config'>): SendSignInLink | undefined {
  // Mail is connected here: where mailIsOn(config),
  // (trx, account, url) => queueMail(trx, services, { to: account.email, message: linkMessage(url) })
  return undefined;
}

export function linkMessage(url: string): LinkMessage {
  return {
    subject: 'Your link to sign in',
    heading: 'Sign in to Ownline',
    paragraphs: ['Open this link on the device on which you want to sign in. It works once, for 30 minutes.'],
    action: { label: 'Sign in', url },
    footnote: 'You did not ask for it? Then nothing has to be done: without the link nobody gets in.',
  };
}
