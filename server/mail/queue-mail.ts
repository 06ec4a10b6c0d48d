import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Config } from '#server/platform/config.ts';
import { isDemoAddress, isMailAddress } from '#server/platform/mail-address.ts';
import { insertMail, markMailsCancelled, sealMail } from './mail-store.ts';
import { type MailContent, renderMail } from './mail-template.ts';

/** Whether this server sends mail. If not, responses contain the links, for copying. */
export function isMailEnabled(config: Pick<Config, 'mail'>): boolean {
  return config.mail !== undefined;
}

interface QueuedMail {
  readonly to: string;
  readonly message: MailContent;
  /** When the link in the mail expires; a mail that is unsent by then is given up. */
  readonly expiresAt?: Date;
  /** The public id of the mail's subject, such as an invitation. `cancelMails` finds the mail by this id. */
  readonly reference?: string;
}

/**
 * Queues a mail in the transaction of its cause (specification section 10.6). It is sent after the commit, and a
 * rollback removes it.
 * @param mail `to` is one address, validated by the caller
 * @returns false if mail is off, or if `to` is an address of a demo; no mail was queued
 * @throws Error for an invalid `to` or an invalid action URL
 */
export async function queueMail(
  trx: Transaction,
  { config, clock, ids, secrets }: Runtime,
  mail: QueuedMail,
): Promise<boolean> {
  if (!isMailEnabled(config) || isDemoAddress(mail.to)) return false;
  if (!isMailAddress(mail.to)) throw new Error('the recipient of a mail is not a mail address');
  const envelope = { id: ids.next('mail'), recipient: mail.to };
  await insertMail(trx, {
    ...envelope,
    body: sealMail(secrets, envelope, renderMail(mail.message)),
    createdAt: clock.now(),
    expiresAt: mail.expiresAt ?? null,
    reference: mail.reference ?? null,
  });
  return true;
}

/** Queues mails for each of these addresses, as `queueMail` does; an address that is listed twice gets each mail once. */
export async function queueMails(
  trx: Transaction,
  services: Runtime,
  recipients: readonly string[],
  ...messages: readonly MailContent[]
): Promise<void> {
  for (const to of new Set(recipients))
    for (const message of messages) await queueMail(trx, services, { to, message });
}

/** Cancels waiting mails about a subject, such as an invitation, in the transaction that ends it (section 10.6). */
export function cancelMails(trx: Transaction, { clock }: Runtime, reference: string): Promise<void> {
  return markMailsCancelled(trx, { reference, at: clock.now() });
}
