import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { TransportFailure } from '#contract/attempt-outcome.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';

/** Result of one request on one connection. */
export type ExchangeResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      /** The bytes as received, never decompressed; cut off if `truncated`. */
      readonly body: Buffer;
      readonly truncated: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly class: TransportFailure;
      /** The status, if the answer had begun. */
      readonly status: number | undefined;
      /** Whether a connection was established, with TLS if the target needs it. */
      readonly connected: boolean;
    };

/**
 * Receives the body of a response with status 200 as it arrives. The sink gets more bytes once it has taken the
 * previous ones.
 */
export interface BodySink {
  /** @returns false to read nothing of the body */
  readonly begin: (headers: IncomingHttpHeaders) => boolean;
  /** @returns false to read no more: the connection is closed, and the answer counts as truncated */
  readonly write: (bytes: Buffer) => Promise<boolean>;
}

/** Upper bound on 1xx responses before the answer: no client needs them, and endless ones would block a slot. */
const interimMax = 32;

interface ReaderOptions {
  readonly secure: boolean;
  readonly bodyMaxBytes: number;
  readonly sink: BodySink | undefined;
  /** Called for each head, each piece of the body, and each piece that the sink took. */
  readonly heard: () => void;
  /** Called once. If the connection is not reusable, this callback has to end it. */
  readonly done: (result: ExchangeResult, isReusable: boolean) => void;
}

/** Reads the answer to one request: keeps its first bytes, or passes them to a sink. */
export class ResponseReader implements Dispatcher.DispatchHandler {
  readonly #options: ReaderOptions;
  #connected = false;
  #answering = false;
  #isOver = false;
  #status: number | undefined;
  #headers: IncomingHttpHeaders = {};
  #body = Buffer.alloc(0);
  #size = 0;
  #interim = 0;
  #isStreamed = false;
  /** Resolves once the sink has taken all bytes so far. */
  #passed = Promise.resolve();

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  onRequestStart(): void {
    this.#connected = true;
  }

  onResponseStarted(): void {
    this.#answering = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.#options.heard();
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim > interimMax) this.fail('invalid_answer');
      return;
    }
    this.#status = status;
    this.#headers = joinRepeated(headers);
    this.#isStreamed = this.#options.sink !== undefined && status === 200;
    if (this.#isStreamed && !this.#options.sink?.begin(this.#headers)) this.#answer(true);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#options.heard();
    if (this.#isStreamed) {
      // The parser passes an empty piece after each pause. Pausing for an empty piece would never end.
      if (chunk.length > 0) this.#pass(controller, chunk);
      return;
    }
    this.#append(chunk);
    if (this.#size > this.#options.bodyMaxBytes) this.#answer(true);
  }

  onResponseEnd(): void {
    if (this.#isStreamed) void this.#passed.then(() => this.#answer(false));
    else this.#answer(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const progress = { secure: this.#options.secure, connected: this.#connected, answering: this.#answering };
    this.fail(failureClass(error, progress));
  }

  fail(failure: TransportFailure): void {
    this.#end({ kind: 'failed', class: failure, status: this.#status, connected: this.#connected }, false);
  }

  /**
   * Backpressure: nothing more is read from the socket until the sink has taken the bytes. At the end of a connection
   * undici delivers buffered bytes nevertheless, so writes are queued.
   */
  #pass(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    controller.pause();
    this.#passed = this.#passed.then(async () => {
      if (this.#isOver) return;
      try {
        const isMoreWanted = await this.#options.sink?.write(chunk);
        this.#options.heard();
        if (!isMoreWanted) this.#answer(true);
        else if (!this.#isOver) controller.resume();
      } catch {
        this.fail('internal_error');
      }
    });
  }

  /** Copies a chunk of the body, because the original may keep a larger buffer in memory. */
  #append(chunk: Buffer): void {
    const end = Math.min(this.#size + chunk.length, this.#options.bodyMaxBytes);
    if (end > this.#body.length) {
      const larger = Buffer.allocUnsafeSlow(
        Math.min(this.#options.bodyMaxBytes, Math.max(end, this.#body.length * 2)),
      );
      this.#body.copy(larger, 0, 0, this.#size);
      this.#body = larger;
    }
    chunk.copy(this.#body, Math.min(this.#size, end), 0);
    this.#size += chunk.length;
  }

  #answer(truncated: boolean): void {
    const body = this.#body.subarray(0, Math.min(this.#size, this.#options.bodyMaxBytes));
    const answered = { kind: 'answered', headers: this.#headers, body, truncated } as const;
    this.#end({ ...answered, status: this.#status ?? 0 }, !truncated);
  }

  #end(result: ExchangeResult, isReusable: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.done(result, isReusable);
  }
}

/** Joins the values of a repeated header, which undici lists, with commas (RFC 9110, section 5.3). */
function joinRepeated(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): IncomingHttpHeaders {
  const joined = Object.entries(headers).map(([name, value]) => [
    name,
    typeof value === 'object' ? value.join(', ') : value,
  ]);
  return Object.fromEntries(joined);
}

/** How far a request had got when it failed. */
export interface Progress {
  readonly secure: boolean;
  /** Whether the connection was established, with TLS if the target needs it. */
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

/** Names the failure behind an error of undici, TLS or the system. An error that the receiver did not cause is internal_error. */
export function failureClass(error: Error, { secure, connected, answering }: Progress): TransportFailure {
  const code = errorCodeOf(error) ?? '';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'headers_too_large';
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'incomplete_answer';
  if (error.name === 'HTTPParserError' || unexpectedResponses.has(error.message)) return 'invalid_answer';
  const known = systemFailures[code];
  if (resetCodes.has(code) || (connected && (known === 'unreachable' || known === 'no_network'))) {
    return answering ? 'incomplete_answer' : 'connection_reset';
  }
  if (known) return known;
  const isTls = code === 'EPROTO' || /^ERR_(SSL|TLS)_/.test(code);
  // An error before the connection that is neither the system's (errno) nor undici's (UND_) is about the certificate,
  // such as CERT_HAS_EXPIRED.
  const isVerdict = !connected && !('errno' in error) && !code.startsWith('UND_');
  return secure && (isTls || isVerdict) ? 'tls' : 'internal_error';
}
