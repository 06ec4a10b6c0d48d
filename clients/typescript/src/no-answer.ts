/** Why fetch failed before it sent the request, by the system call and the code of the error. */
const unsent: readonly (readonly [failures: RegExp, reason?: string])[] = [
  [/^connect ECONNREFUSED$/, 'connection refused. Is the service running at this address?'],
  [/^getaddrinfo /, 'unknown host: its name was not resolved'],
  [/^connect (EHOSTUNREACH|ENETUNREACH)$/, 'no route to the host'],
  [/^connect ETIMEDOUT$| UND_ERR_CONNECT_TIMEOUT$/, 'time-out of the connection'],
  [/ ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)/, 'TLS failed. Does the service have https at this address?'],
  [/ (ERR_TLS_CERT|CERT_|UNABLE_TO_)|_CERT(_|$)/, 'TLS failed: the certificate is not trusted'],
  [/^connect /],
];

/** Whether fetch failed before it sent the request. After an unknown error, the request counts as sent. */
export const isUnsent = (error: unknown): boolean => findUnsent(error) !== undefined;

/** Why fetch failed, in a few words. */
export function reasonOf(error: unknown): string {
  const { name, message } = connectionError(error);
  return findUnsent(error)?.[1] ?? (name === 'TimeoutError' ? 'time-out' : message.trim());
}

function findUnsent(error: unknown) {
  const { syscall = '', code } = connectionError(error);
  return unsent.find(([failures]) => failures.test(`${syscall} ${code}`));
}

/**
 * Finds the connection's error, the cause of fetch's error. If several addresses failed, it is the last one's error.
 */
function connectionError(error: unknown): NodeJS.ErrnoException {
  const { cause = error } = error as Error;
  return (cause instanceof AggregateError ? cause.errors.at(-1) : cause) as NodeJS.ErrnoException;
}
