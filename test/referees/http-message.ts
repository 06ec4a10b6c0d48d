import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenLocally } from '#test/support/proxies/listen-locally.ts';

/** A request or an answer with its bytes as sent. */
export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer<ArrayBuffer>;
}
export interface Request extends Message {
  readonly method: string;
  readonly path: string;
}
export interface Answer extends Message {
  readonly status: number;
}

/** Headers that belong to one connection or are computed from the body, so they are not passed on. */
const perConnection = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'expect'];

export async function sendTo(origin: string, { method, path, headers, body }: Request): Promise<Answer> {
  const init = body.length > 0 ? { method, headers, body } : { method, headers };
  const response = await fetch(`${origin}${path}`, { ...init, redirect: 'manual' });
  return {
    status: response.status,
    headers: passedOn(Object.fromEntries(response.headers)),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

export interface Listener {
  readonly url: string;
  readonly close: () => Promise<unknown>;
}

/** Answers each request with the result of `answer`. If that throws, the connection is closed. */
export async function listen(answer: (request: Request) => Promise<Answer>): Promise<Listener> {
  const server = createServer((incoming, response) => {
    readRequest(incoming)
      .then(answer)
      .then(({ status, headers, body }) => response.writeHead(status, headers).end(body))
      .catch((error) => breakOff(response, error));
  });
  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<Request> {
  return {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: passedOn(incoming.headers),
    body: Buffer.concat(await Array.fromAsync(incoming as AsyncIterable<Buffer>)),
  };
}

function passedOn(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !perConnection.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

function breakOff(response: ServerResponse, error: unknown): void {
  console.error('a request was not judged:', error);
  response.destroy();
}
