import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError, unreadable } from '#server/platform/app-error.ts';

/**
 * Answers requests that Node refuses before they can be routed: broken framing, too many header bytes, a request that
 * never ends, CONNECT, an unknown expectation. Each gets the usual error envelope (specification section 7.1). The
 * connection is then closed, because its further bytes can't be trusted.
 *
 * Earlier complete requests of the connection are answered first. Otherwise the client would treat the error as the
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
        unreadable('This server is not a proxy and does not serve CONNECT. Send the request directly.', 405),
      ),
    );
    server.on('checkExpectation', (request, response) => {
      this.#track(request.socket, response);
      const refusal = unreadable(
        'This server supports no Expect header other than 100-continue. Send the request without Expect.',
        417,
      );
      const body = JSON.stringify(refusal.envelope());
      response.writeHead(refusal.status, headersOf(body, this.#nextRequestId())).end(body);
    });
  }

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
      // A request may have been answered before its unreadable body arrived, and then gets no second answer.
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
      return unreadable('The request did not arrive in time. Send it again.', 408);
    case 'HPE_HEADER_OVERFLOW':
      return unreadable('The address and the headers are too large. Shorten them to 16 KB together.', 431);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return unreadable(
        'The chunk extensions of the body are too large. Send chunks without extensions.',
        413,
      );
    default:
      return unreadable(
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

/**
 * Guard against request smuggling (RFC 9112, sections 3.2, 6.1 and 11.2): refuses requests that a proxy may frame
 * differently than Node. Such requests have no Host header or several, a transfer coding in HTTP/1.0, or a transfer
 * coding that is not chunked.
 */
export function framingError({ headers, rawHeaders, httpVersion }: IncomingMessage): AppError | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  if (host === undefined && httpVersion === '1.1')
    return refusal('The Host header is missing. Send it: HTTP/1.1 requires it.', 'Host');
  if (hostCount(rawHeaders) > 1) return refusal('The request has several Host headers. Send one.', 'Host');
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0')
    return refusal('HTTP/1.0 has no Transfer-Encoding. Send Content-Length instead.', 'Transfer-Encoding');
  return coding.toLowerCase() === 'chunked'
    ? undefined
    : refusal(
        'The only Transfer-Encoding that this server reads is chunked, once. Send that, or Content-Length.',
        'Transfer-Encoding',
      );
}

function hostCount(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** The error closes the connection, because it is unclear where the body ends. */
function refusal(message: string, param: string): AppError {
  return new AppError('invalid_request', message, { param, headers: { connection: 'close' } });
}
