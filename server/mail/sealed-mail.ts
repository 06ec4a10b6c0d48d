import type { Secrets } from '#server/platform/crypto.ts';
import { type MailId, publicId } from '#server/platform/ids/ids.ts';
import type { RenderedMail } from './mail-template.ts';

/** Identifies the mail that a sealed body belongs to. The body can't be opened for another id or recipient. */
interface Envelope {
  readonly id: MailId;
  readonly recipient: string;
}

/** Seals the body of a mail for the table, because its links sign people in (specification section 10.6). */
export function sealMail(secrets: Secrets, envelope: Envelope, mail: RenderedMail): Buffer {
  return secrets.seal(purposeOf(envelope), JSON.stringify(mail));
}

/** Opens the sealed body of a mail. @returns undefined for a body that was changed, or that belongs to another mail */
export function openMail(secrets: Secrets, envelope: Envelope, sealed: Buffer): RenderedMail | undefined {
  try {
    return JSON.parse(secrets.open(purposeOf(envelope), sealed)) as RenderedMail;
  } catch {
    return undefined;
  }
}

function purposeOf({ id, recipient }: Envelope): string {
  return `mail ${publicId('mail', id)} to ${recipient}`;
}
