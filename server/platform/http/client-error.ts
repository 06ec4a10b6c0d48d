import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '#server/platform/app-error.ts';

/**
 * Answers requests that Node refuses before they can be routed: broken framing, too many header bytes, a request that
 * never ends, CONNECT, an unknown expectation. Each gets the same envelope as every other refusal (specification
 * section 7.1), and its connection is closed, because its further bytes can't be trusted.
 *
 * Complete requests before it on the same connection are answered first. Otherwise their sender would take the refusal
 * for the answer to a message that was accepted.
 */
export class ClientErrorResponder {
  /** Makes the request-id of such an answer. */
  readonly #nextRequestId: () => string;
  /** Per connection, in order: responses that are unfinished, or were finished before the request body was read. */
  readonly #open = new WeakMap<Duplex, ServerResponse[]>();
  readonly #refused = new WeakSet<Duplex>();

  constructor(nextRequestId: () => string) {
    this.#nextRequestId = nextRequestId;
  }

  listenTo(server: Server): void {
    server.on('request', (request, response) => this.#track(request.socket, response));
    server.on('connect', (_request, socket) =>
      this.#refuse(
        socket,
        new AppError('invalid_request', 'This server is no proxy: CONNECT is not served.', { status: 405 }),
      ),
    );
    server.on('checkExpectation', (request, response) => {
      this.#track(request.socket, response);
      const refusal = new AppError(
        'invalid_request',
        'This server meets no expectation but 100-continue. Send the request without Expect, or with that one.',
        {
          status: 417,
        },
      );
      const body = JSON.stringify(refusal.envelope());
      response.writeHead(refusal.status, headersOf(body, this.#nextRequestId())).end(body);
    });
  }

  /** The handler of Node's `clientError`. */
  readonly onClientError = (error: Error & { code?: string }, socket: Duplex): void => {
    // The connection is closed: an answer would reach no client.
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    this.#refuse(socket, refusalOf(error.code));
  };

  #track(socket: Duplex, response: ServerResponse): void {
    const open = this.#open.get(socket);
    if (open === undefined) {
      this.#open.set(socket, [response]);
      return;
    }
    // Responses are sent in order: finished ones come first.
    while (open[0] && isOver(open[0])) open.shift();
    open.push(response);
  }

  #refuse(socket: Duplex, refusal: AppError): void {
    // Node reports each further chunk that it can't parse.
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    const open = [...(this.#open.get(socket) ?? [])];
    const last = open.findLast((response) => response.req.complete && !response.writableFinished);
    const finish = () => {
      // A request with an unreadable body may have been answered before all of the body came.
      const isAnswered = open.some((response) => !response.req.complete && response.headersSent);
      writeRefusal(socket, isAnswered ? undefined : refusal, this.#nextRequestId());
    };
    if (last) last.once('close', finish);
    else finish();
  }
}

function isOver(response: ServerResponse): boolean {
  return response.writableFinished && response.req.complete;
}

function refusalOf(code: string | undefined): AppError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('invalid_request', 'The request did not arrive in time. Send it again.', {
        status: 408,
      });
    case 'HPE_HEADER_OVERFLOW':
      return new AppError(
        'invalid_request',
        'Address and headers are too large. Send fewer or shorter ones: 16 KB at most.',
        { status: 431 },
      );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new AppError('invalid_request', 'The chunk extensions are too large.', { status: 413 });
    default:
      return new AppError(
        'invalid_request',
        'This is not a readable HTTP/1.1 request. Check its first line, headers and body length.',
      );
  }
}

function writeRefusal(socket: Duplex, refusal: AppError | undefined, requestId: string): void {
  if (refusal && socket.writable) {
    const body = JSON.stringify(refusal.envelope());
    const lines = Object.entries(headersOf(body, requestId)).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`,
    );
  }
  socket.destroy();
}

function headersOf(body: string, requestId: string): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'request-id': requestId,
    'cache-control': 'no-store',
    connection: 'close',
  };
}
