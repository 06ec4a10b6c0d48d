import type { TransportFailure } from '#contract/attempt-outcome.ts';
import type { MediaProblem } from './media-writer.ts';

/**
 * Reason why media could not be fetched (specification section 3.2). It is stored as one of these words, or with a
 * status as `http_404`.
 */
export type MediaFailure =
  | Exclude<MediaProblem, 'removed'>
  | TransportFailure
  | 'compressed'
  | 'redirects'
  | 'invalid_redirect'
  | 'interrupted'
  | `http_${number}`;

const texts: Readonly<Record<Exclude<MediaFailure, `http_${number}`>, string>> = {
  empty: 'the file has 0 bytes',
  too_large: 'the file is larger than 5 MB',
  unsupported_type: 'the file is of a type that an iPhone does not send; put a link to it into the text',
  compressed: 'the answer was compressed (Content-Encoding), although no compression was asked for',
  redirects: 'the address redirected more than three times',
  invalid_redirect: 'the address redirected to a URL that is not valid, is too long or has a user name',
  interrupted: 'Ownline was killed 20 times while it fetched the file',
  timeout: 'the host sent nothing for 10 seconds, or the file had not arrived in full when the time was up',
  dns: 'no address was found for the name of the host',
  forbidden_address:
    'the address, or a redirect of it, leads to a private network or does not begin with https://',
  connection_refused: 'nothing listens at the address',
  unreachable: 'no network route leads to the address',
  no_network: 'the network of Ownline was down',
  connection_reset: 'the host closed the connection without an answer',
  tls: 'the certificate of the host is not trusted',
  incomplete_answer: 'the connection broke in the middle of the file',
  invalid_answer: 'the host did not answer in HTTP',
  headers_too_large: 'the headers of the answer are larger than 16 KB',
  aborted: 'Ownline was stopped during each attempt',
  internal_error: 'the request failed within Ownline',
};

/** @returns the explanation of a failure, as the end of a sentence */
export function mediaFailureText(failure: string): string {
  const status = /^http_(\d{3})$/.exec(failure)?.[1];
  if (status) return `the address answered with HTTP status ${status}`;
  return Object.hasOwn(texts, failure) ? texts[failure as keyof typeof texts] : 'the fetch failed';
}

/** Transient failures: a further try may succeed. */
const transient: ReadonlySet<MediaFailure> = new Set([
  'timeout',
  'dns',
  'connection_refused',
  'unreachable',
  'no_network',
  'connection_reset',
  'incomplete_answer',
  'aborted',
  'internal_error',
]);

/** Whether a further try may succeed (specification section 3.2). */
export function isTransientMediaFailure(failure: MediaFailure): boolean {
  const status = Number(/^http_(\d{3})$/.exec(failure)?.[1]);
  return transient.has(failure) || status >= 500 || [408, 425, 429].includes(status);
}
