/** Sender of a mail: `Example Ltd <texts@example.com>`; `name` is `""` where there is none. */
export interface NamedMailAddress {
  readonly name: string;
  readonly address: string;
}

const part = String.raw`[^\s\p{C}<>()[\]\\,;:"@]`;
const mailAddress = new RegExp(`^${part}{1,64}@${part}{1,189}$`, 'u');
const named = /^(?:"(?<quoted>[^"\p{Cc}]*)"|(?<bare>[^"<>@,;\p{Cc}]*))\s*<(?<address>[^<>]+)>$/u;

/**
 * Whether a text can be one address in a header and in an SMTP command. It has one `@` with something on both sides,
 * and no space, control character, separator or quote. Whether the mailbox exists, only a mail can tell.
 */
export function isMailAddress(text: string): boolean {
  return mailAddress.test(text);
}

/** Reads `texts@example.com`, `Example Ltd <texts@example.com>` or `"Example, Ltd" <texts@example.com>`. */
export function parseNamedMailAddress(text: string): NamedMailAddress | undefined {
  const groups = named.exec(text)?.groups;
  const name = groups?.quoted ?? groups?.bare ?? '';
  const address = groups?.address ?? text;
  return isMailAddress(address) ? { name: name.trim(), address } : undefined;
}
