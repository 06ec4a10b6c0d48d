import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { Config } from '#server/platform/config.ts';
import { isMailAddress } from '#server/platform/mail-address.ts';
import { insertMail, markMailsCancelled } from './mail-store.ts';
import { type MailContent, renderMail } from './mail-template.ts';
import { sealMail } from './sealed-mail.ts';

/** Whether this server sends mail. If it does not, links are shown for copying instead. */
export function isMailEnabled(config: Pick<Config, 'mail'>): boolean {
  return config.mail !== undefined;
}

interface QueuedMail {
  readonly to: string;
  readonly message: MailContent;
  /** The end of the link in it: an unsent mail is dropped then. */
  readonly expiresAt?: Date;
  /** The public id of its subject, by which cancelMails finds it. */
  readonly reference?: string;
}

/**
 * Queues a mail in the transaction of its cause (specification section 10.6): it goes out after the commit,
 * and a rollback removes it.
 * @param mail `to` is one address; a caller that takes it from a person has checked it
 * @returns false where mail is off: no mail was queued, and the caller shows the link
 * @throws Error where `to` is no address, or the action's address is none
 */
export async function queueMail(
  trx: Transaction,
  { config, clock, ids, secrets }: Pick<Runtime, 'config' | 'clock' | 'ids' | 'secrets'>,
  mail: QueuedMail,
): Promise<boolean> {
  if (!isMailEnabled(config)) return false;
  if (!isMailAddress(mail.to)) throw new Error('a mail was to go to what is no address');
  const envelope = { id: ids.next('mail'), recipient: mail.to };
  await insertMail(trx, {
    ...envelope,
    body: sealMail(secrets, envelope, renderMail(mail.message)),
    createdAt: clock.now(),
    expiresAt: mail.expiresAt,
    reference: mail.reference,
  });
  return true;
}

/** Cancels waiting mails about a subject that has ended, in the transaction that ends it (section 10.6). */
export function cancelMails(
  trx: Transaction,
  { clock }: Pick<Runtime, 'clock'>,
  reference: string,
): Promise<void> {
  return markMailsCancelled(trx, reference, clock.now());
}
