/** Why fetch failed before it sent the request, by the code of the error. */
const unsent: readonly (readonly [codes: RegExp, reason: string])[] = [
  [/^ECONNREFUSED$/, 'connection refused. Is the service running at this address?'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'unknown host: its name was not resolved'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'no route to the host'],
  [/^UND_ERR_CONNECT_TIMEOUT$/, 'time-out of the connection'],
  [/^ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)/, 'TLS failed. Does the service have https at this address?'],
  [/^(ERR_TLS_CERT|CERT_|UNABLE_TO_)|_CERT(_|$)/, 'TLS failed: the certificate is not trusted'],
];

/** Whether fetch failed before it sent the request. An error that is not known counts as a later one. */
export const isUnsent = (error: unknown): boolean => unsentReason(error) !== undefined;

/** Why fetch failed, in a few words. */
export function reasonOf(error: unknown): string {
  const { name, message } = innermost(error);
  return unsentReason(error) ?? (name === 'TimeoutError' ? 'time-out' : message.trim());
}

const unsentReason = (error: unknown): string | undefined =>
  unsent.find(([codes]) => codes.test(String(innermost(error).code)))?.[1];

/** fetch puts the error of the connection in the cause of its own. */
const innermost = (error: unknown): NodeJS.ErrnoException =>
  ((error as Error).cause ?? error) as NodeJS.ErrnoException;
