import type { TransportFailure } from '#contract/attempt-outcome.ts';

/** How far a request had come when it failed. */
export interface Progress {
  readonly secure: boolean;
  /** The connection is established, with TLS where the target needs it. */
  readonly connected: boolean;
  /** The first byte of the answer has come. */
  readonly answering: boolean;
}

/** `unreachable`, `no_network` and `connection_refused` mean that no connection was established: nothing was sent. */
const systemFailures: Readonly<Record<string, TransportFailure>> = {
  ECONNREFUSED: 'connection_refused',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  // This host's system reports these before a packet leaves: no route, no interface, no free port, its own firewall.
  ENETUNREACH: 'no_network',
  ENETDOWN: 'no_network',
  EADDRNOTAVAIL: 'no_network',
  EPERM: 'no_network',
  EACCES: 'no_network',
  ETIMEDOUT: 'timeout',
};

/** Ends of a connection by the other side, as the system and undici name them. */
const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET']);
/** undici's messages for the statuses 100 and 101, which no request asked for. */
const unexpectedResponses = new Set(['bad response', 'bad upgrade']);

/**
 * Classifies an error of undici, of TLS or of the system; errors that the receiver did not cause are internal_error.
 */
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
  // Certificate errors have codes of their own (CERT_HAS_EXPIRED). Errors of the system have an errno besides, and
  // those of undici are about the request.
  const isVerdict = !connected && !('errno' in error) && !code.startsWith('UND_');
  return secure && (isTls || isVerdict) ? 'tls' : 'internal_error';
}
