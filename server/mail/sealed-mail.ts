import type { Secrets } from '#server/platform/crypto.ts';
import { type MailId, publicId } from '#server/platform/ids/ids.ts';
import type { RenderedMail } from './mail-template.ts';

/** The row that a sealed body belongs to: with another row or recipient it can't be opened. */
interface Envelope {
  readonly id: MailId;
  readonly recipient: string;
}

/** The body of a mail as the table keeps it: sealed, because its links sign people in (specification section 10.6). */
export function sealMail(secrets: Secrets, envelope: Envelope, mail: RenderedMail): Buffer {
  return secrets.seal(purposeOf(envelope), JSON.stringify(mail));
}

/** @returns undefined where it can't be opened: it was changed, or belongs to another mail */
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
