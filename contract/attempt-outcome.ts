/**
 * Failure classes of a webhook's HTTP attempt (specification section 6.5), each with advice for the operator of the
 * receiver. The first three follow from the response's status; in all others no complete response arrived.
 */
export const attemptFailures = {
  redirect:
    'The receiver answered with a redirect (3xx), which is never followed. Change the URL to the address that it leads to.',
  http_4xx: 'The receiver answered 4xx: it refused the request. Its log says why.',
  http_5xx: 'The receiver answered 5xx: it failed to process the request. Its log says why.',
  timeout: 'The receiver did not finish its answer in time.',
  dns: 'No address was found for the host name. Check that it has an A or AAAA record.',
  forbidden_address:
    'The URL leads to a private, local or reserved address, or is one that Ownline never calls. Use one on the public internet.',
  connection_refused: 'Nothing listens at the address and port of the URL.',
  unreachable: 'No network route leads to the address.',
  no_network:
    'No name server answered, or this server has no route out. The fault is in the network of Ownline, not in the receiver, so the failure does not count.',
  connection_reset: 'The receiver closed the connection without an answer.',
  tls: 'The TLS connection failed. Check the certificate of the receiver: its name, its dates and its chain.',
  incomplete_answer: 'The connection broke in the middle of the answer.',
  invalid_answer: 'The answer of the receiver is not HTTP.',
  headers_too_large: 'The headers of the answer are larger than 16 KB.',
  aborted: 'Ownline was stopped and ended the request. The receiver is not at fault.',
  internal_error: 'The request failed inside Ownline. The receiver is not at fault.',
} as const;

export type AttemptFailure = keyof typeof attemptFailures;
export type StatusFailure = 'redirect' | 'http_4xx' | 'http_5xx';
export type TransportFailure = Exclude<AttemptFailure, StatusFailure>;

/** Classifies a status. @returns undefined for 2xx, the only success (specification section 6.3) */
export function failureOfStatus(status: number): StatusFailure | undefined {
  if (status >= 500) return 'http_5xx';
  if (status >= 400) return 'http_4xx';
  return status >= 300 ? 'redirect' : undefined;
}
