import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listenLocally } from './listen-locally.ts';

/** A fault of the next request. */
export type Interruption =
  /** Passes the request to the server, and cuts the connection instead of answering. */
  | 'lost_answer'
  /** Answers 429 with `retry-after: 1`. The server does not get the request. */
  | 'rate_limited'
  /** Answers 429 with a date in `retry-after`, 1 to 2 s ahead. The server does not get the request. */
  | 'rate_limited_until'
  /** Answers 503 with `retry-after: 300`, as proxies do during maintenance. The server does not get the request. */
  | 'maintenance'
  /** Passes the request, and cuts off the end of the JSON of the answer. */
  | 'cut_json'
  /** Passes the request, and adds a list to the JSON of the answer, as a later release of the server may. */
  | 'added_list'
  /** Answers 307 with another address of the proxy. The server does not get the request. */
  | 'redirect'
  /** Answers 502 with a page of HTML. The server does not get the request. */
  | 'error_page';

interface PassedRequest {
  readonly call: string;
  readonly idempotencyKey: string | undefined;
  /** Time of performance.now(). */
  readonly atMs: number;
}

/** Starts a proxy in front of a service, between which and a client the network and the service fail on request. */
export async function startInterruptingProxy(target: string) {
  const faults: Interruption[] = [];
  const requests: PassedRequest[] = [];

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const key = request.headers['idempotency-key'];
    requests.push({
      call: `${method} ${url}`,
      idempotencyKey: typeof key === 'string' ? key : undefined,
      atMs: performance.now(),
    });
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const fault = faults.shift();
    if (fault === 'rate_limited' || fault === 'rate_limited_until') {
      const error = { code: 'rate_limited', message: 'Too many requests.' };
      const date = new Date(Math.ceil(Date.now() / 1_000 + 1) * 1_000).toUTCString();
      const retryAfter = fault === 'rate_limited' ? '1' : date;
      response.writeHead(429, { 'retry-after': retryAfter, 'content-type': 'application/json' });
      response.end(JSON.stringify({ error }));
      return;
    }
    if (fault === 'redirect') {
      response.writeHead(307, { location: '/v1/numbers' }).end();
      return;
    }
    if (fault === 'maintenance') {
      response.writeHead(503, { 'retry-after': '300' }).end();
      return;
    }
    if (fault === 'error_page') {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
      return;
    }
    const {
      host: _host,
      connection: _connection,
      'transfer-encoding': _coding,
      ...headers
    } = request.headers;
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: headers as Record<string, string>,
      ...(body.length > 0 ? { body } : {}),
    });
    const text = await answer.text();
    if (fault === 'lost_answer') return void response.destroy();
    const { 'content-length': _length, ...answerHeaders } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, answerHeaders);
    if (fault === 'added_list') response.end(JSON.stringify({ added: [], ...JSON.parse(text) }));
    else response.end(fault === 'cut_json' ? text.slice(0, -1) : text);
  }

  const server = createServer(
    (request, response) => void pass(request, response).catch(() => response.destroy()),
  );
  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    /** All requests so far, the oldest first. */
    requests,
    /** Sets the faults of the next requests, one for each, and forgets the requests so far. */
    interrupt: (...next: readonly Interruption[]) => {
      requests.length = 0;
      faults.splice(0, faults.length, ...next);
    },
    /** Cuts all connections of clients. */
    cut: () => server.closeAllConnections(),
    close: () => closeServer(server),
  };
}
