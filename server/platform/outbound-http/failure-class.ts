import type { TransportFailure } from '#contract/attempt-outcome.ts';

/** How far a request had got when it failed. */
export interface Progress {
  readonly secure: boolean;
  /** Whether the connection was established, with TLS where the target needs it. */
  readonly connected: boolean;
  /** Whether the first byte of the answer had arrived. */
  readonly answering: boolean;
}

/** `unreachable`, `no_network` and `connection_refused` mean that no connection was established: nothing was sent. */
const systemFailures: Readonly<Record<string, TransportFailure>> = {
  ECONNREFUSED: 'connection_refused',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  // This host reports these codes before a packet leaves: no route, no interface, no free port, or its own firewall.
  ENETUNREACH: 'no_network',
  ENETDOWN: 'no_network',
  EADDRNOTAVAIL: 'no_network',
  EPERM: 'no_network',
  EACCES: 'no_network',
  ETIMEDOUT: 'timeout',
};

/** Codes of the system and undici for a connection that the other side closed. */
const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET']);
/** undici's messages for the statuses 100 and 101, which no request asked for. */
const unexpectedResponses = new Set(['bad response', 'bad upgrade']);

/** Classifies an error of undici, TLS or the system. An error that the receiver did not cause is internal_error. */
export function failureClass(error: Error, { secure, connected, answering }: Progress): TransportFailure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'headers_too_large';
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'incomplete_answer';
  if (error.name === 'HTTPParserError' || unexpectedResponses.has(error.message)) return 'invalid_answer';
  const known = systemFailures[code];
  if (resetCodes.has(code) || (connected && (known === 'unreachable' || known === 'no_network'))) {
    return answering ? 'incomplete_answer' : 'connection_reset';
  }
  if (known) return known;
  const isTls = code === 'EPROTO' || /^ERR_(SSL|TLS)_/.test(code);
  // Certificate errors have their own codes, such as CERT_HAS_EXPIRED. System errors have an errno, and undici's codes
  // begin with UND_.
  const isVerdict = !connected && !('errno' in error) && !code.startsWith('UND_');
  return secure && (isTls || isVerdict) ? 'tls' : 'internal_error';
}
