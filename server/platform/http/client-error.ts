import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '#server/platform/app-error.ts';

/**
 * Answers requests that Node refuses before they can be routed: broken framing, too many header bytes, a request that
 * never ends, CONNECT, an unknown expectation. Each gets the usual error envelope (specification section 7.1). The
 * connection is then closed, because its further bytes can't be trusted.
 *
 * Earlier complete requests of the connection are answered first. Otherwise the client would take the error for the
 * answer to a message that was accepted.
 */
export class ClientErrorResponder {
  /** Creates the request id of an answer to a request that Node refused. */
  readonly #nextRequestId: () => string;
  /** Responses of a connection, in order: unfinished ones, and those finished before the request body was read. */
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
        new AppError(
          'invalid_request',
          'This server is not a proxy and does not serve CONNECT. Send the request directly.',
          { status: 405 },
        ),
      ),
    );
    server.on('checkExpectation', (request, response) => {
      this.#track(request.socket, response);
      const refusal = new AppError(
        'invalid_request',
        'This server supports no Expect header other than 100-continue. Send the request without Expect.',
        {
          status: 417,
        },
      );
      const body = JSON.stringify(refusal.envelope());
      response.writeHead(refusal.status, headersOf(body, this.#nextRequestId())).end(body);
    });
  }

  /** Handles Node's event `clientError`. */
  readonly onClientError = (error: Error & { code?: string }, socket: Duplex): void => {
    // The connection is closed already, so no answer can reach the client.
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    this.#refuse(socket, refusalOf(error.code));
  };

  #track(socket: Duplex, response: ServerResponse): void {
    const open = this.#open.get(socket);
    if (open === undefined) {
      this.#open.set(socket, [response]);
      return;
    }
    // Responses are sent in order, so finished ones are at the start.
    while (open[0] && isOver(open[0])) open.shift();
    open.push(response);
  }

  #refuse(socket: Duplex, refusal: AppError): void {
    // After a parse error Node reports each later chunk as well; only the first is answered.
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    const open = [...(this.#open.get(socket) ?? [])];
    const last = open.findLast((response) => response.req.complete && !response.writableFinished);
    const finish = () => {
      // A request with an unreadable body may have been answered before all of the body arrived.
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
        'The address and the headers are too large. Shorten them to 16 KB together.',
        { status: 431 },
      );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new AppError(
        'invalid_request',
        'The chunk extensions of the body are too large. Send chunks without extensions.',
        { status: 413 },
      );
    default:
      return new AppError(
        'invalid_request',
        'This is not a valid HTTP/1.1 request. Check its first line, headers and body length.',
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
