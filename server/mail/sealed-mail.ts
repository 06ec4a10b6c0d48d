import type { Secrets } from '#server/platform/crypto.ts';
import type { RenderedMail } from './mail-template.ts';

/** The body of a mail as the table keeps it: it carries links that let people in (specification section 10.6). */
export function sealMail(secrets: Secrets, mail: RenderedMail): Buffer {
  return secrets.seal('mail', JSON.stringify(mail));
}

/** @returns undefined where it can't be read: it was changed, or comes from elsewhere */
export function openMail(secrets: Secrets, sealed: Buffer): RenderedMail | undefined {
  try {
    return JSON.parse(secrets.open('mail', sealed)) as RenderedMail;
  } catch {
    return undefined;
  }
}
