import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '#server/platform/app-error.ts';

/**
 * Answers what Node refuses before there is a request to route: broken framing, too many header bytes, a request that
 * never ends, CONNECT, an unknown expectation. Each gets the same envelope as every other refusal
 * (specification section 7.1), and its connection is closed, since nothing on it can be trusted any more.
 * @param nextRequestId makes the request-id of such an answer
 */
export function answerUnreadable(server: Server, nextRequestId: () => string): void {
  server.on('connect', (_request, socket) =>
    writeRefusal(
      socket,
      nextRequestId(),
      new AppError('invalid_request', 'This server is no proxy: CONNECT is not served.', { status: 405 }),
    ),
  );
  server.on('checkExpectation', (_request, response) => {
    const refusal = new AppError('invalid_request', 'Of all expectations, only 100-continue is met.', {
      status: 417,
    });
    const body = JSON.stringify(refusal.envelope());
    response.writeHead(refusal.status, headersOf(body, nextRequestId())).end(body);
  });
}

/** The handler of Node's `clientError`. */
export function refuseUnreadable(error: Error & { code?: string }, socket: Duplex, requestId: string): void {
  // The peer is gone: nobody is left to tell.
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  writeRefusal(socket, requestId, refusalOf(error.code));
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

function writeRefusal(socket: Duplex, requestId: string, refusal: AppError): void {
  if (socket.writable) {
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
