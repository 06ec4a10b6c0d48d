/** The sender of a mail, such as `Example Ltd <texts@example.com>`; `name` is '' without a name. */
export interface NamedMailAddress {
  readonly name: string;
  readonly address: string;
}

const part = String.raw`[^\s\p{C}<>()[\]\\,;:"@]`;
const mailAddress = new RegExp(`^${part}{1,64}@${part}{1,189}$`, 'u');
const named = /^(?:"(?<quoted>[^"\p{Cc}]*)"|(?<bare>[^"<>@,;\p{Cc}]*))\s*<(?<address>[^<>]+)>$/u;

/**
 * Whether a text can be one address in a mail header and an SMTP command: one `@` with text on both sides; no space,
 * control character, separator or quote. Only a mail can show whether the mailbox exists.
 */
export function isMailAddress(text: string): boolean {
  return mailAddress.test(text);
}

/** Parses `texts@example.com`, `Example Ltd <texts@example.com>` or `"Example, Ltd" <texts@example.com>`. */
export function parseNamedMailAddress(text: string): NamedMailAddress | undefined {
  const groups = named.exec(text)?.groups;
  const name = groups?.quoted ?? groups?.bare ?? '';
  const address = groups?.address ?? text;
  return isMailAddress(address) ? { name: name.trim(), address } : undefined;
}

/**
 * The domain of demo teams. It is reserved for documentation (RFC 2606). No mail goes
 * to its addresses, and the server answers requests to its hosts itself.
 */
export const demoDomain = 'demo.example.com';

export function isDemoHost(host: string): boolean {
  return host === demoDomain || host.endsWith(`.${demoDomain}`);
}

export function isDemoAddress(email: string): boolean {
  return email.toLowerCase().endsWith(`@${demoDomain}`);
}
