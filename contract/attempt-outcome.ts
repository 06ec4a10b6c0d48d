/**
 * Failure classes of an HTTP attempt, one word per kind of fault (specification section 6.5), each with a sentence for
 * the operator of the receiver. The first three are derived from a status; the others have no complete response.
 */
export const attemptFailures = {
  redirect: 'It answered with a redirect (3xx), which is never followed. Change the URL to where it leads.',
  http_4xx: 'It answered 4xx: it did not take the request.',
  http_5xx: 'It answered 5xx: it failed over the request.',
  timeout: 'It had not answered to the end when the time was up.',
  dns: 'No address was found for the name. Check that it has an A or AAAA record.',
  forbidden_address:
    'The URL leads to a private, local or reserved address, or is none that requests go to. Use one on the public internet.',
  connection_refused: 'Nothing listens at that address and port.',
  unreachable: 'There is no way through the network to the address.',
  no_network:
    'No name server answered, or this server has no route out. The fault is in the network of Ownline: this says nothing of the receiver, and does not count.',
  connection_reset: 'It closed the connection without an answer.',
  tls: 'No trusted connection came about. Check the certificate: its name, its dates and the chain to its authority.',
  incomplete_answer: 'The connection broke in the middle of the answer.',
  invalid_answer: 'Its answer is not HTTP.',
  headers_too_large: 'The headers of its answer are larger than 16 KB.',
  aborted: 'Ownline ended the request because it was stopped. This says nothing of the receiver.',
  internal_error: 'The request failed within Ownline. This says nothing of the receiver.',
} as const;

export type AttemptFailure = keyof typeof attemptFailures;
export type StatusFailure = 'redirect' | 'http_4xx' | 'http_5xx';
/** The classes of attempts without a complete response. */
export type TransportFailure = Exclude<AttemptFailure, StatusFailure>;

/** @returns undefined for 2xx, which alone is success (specification section 6.3) */
export function failureOfStatus(status: number): StatusFailure | undefined {
  if (status >= 500) return 'http_5xx';
  if (status >= 400) return 'http_4xx';
  return status >= 300 ? 'redirect' : undefined;
}
