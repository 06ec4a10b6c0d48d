import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, type Dispatcher, errors } from 'undici';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface Reply {
  /** The HTTP status; 0 if the connection ended without a whole response. */
  readonly status: number;
  readonly body: Buffer;
  /** Whether no whole response came in time. */
  readonly isLate: boolean;
}

/** Counts of responses by status; 0 for requests without a response. */
export type Statuses = ReadonlyMap<number, number>;

const answerWithinMs = 30_000;
/** The pause before a lost request is followed by the next one. */
const pauseMs = 50;
const openedAtOnce = 250;

export const originOf = (port: number) => `http://127.0.0.1:${port}`;

/**
 * A client with one connection, which opens a new one when the old one has closed.
 * @param from the source address in 127.0.0.0/8; different addresses count as different client networks
 */
export function openClient(port: number, from = '127.0.0.1'): Client {
  return new Client(originOf(port), { localAddress: from, connectTimeout: answerWithinMs });
}

/** Sends a request and reads its whole response. It never throws. */
export async function ask(
  client: Dispatcher,
  request: Omit<Request, 'body'> & { readonly body?: Uint8Array | Readable },
  withinMs = answerWithinMs,
): Promise<Reply> {
  try {
    const times = { headersTimeout: withinMs, bodyTimeout: withinMs };
    const { statusCode, body } = await client.request({ ...request, ...times });
    return { status: statusCode, body: Buffer.from(await body.arrayBuffer()), isLate: false };
  } catch (error) {
    const isLate = error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError;
    return { status: 0, body: Buffer.alloc(0), isLate };
  }
}

/** Sends one request on a new connection. */
export async function askOnce(port: number, request: Request, withinMs?: number): Promise<Reply> {
  const client = openClient(port);
  return ask(client, request, withinMs).finally(() => client.destroy());
}

/** Sends the same request on each connection at the same moment. */
export async function askAll(clients: readonly Client[], request: Request): Promise<Statuses> {
  return countStatuses(await Promise.all(clients.map((client) => ask(client, request))));
}

export function countStatuses(replies: readonly Reply[]): Statuses {
  const groups = Map.groupBy(replies, ({ status }) => status);
  return new Map([...groups].map(([status, same]) => [status, same.length]));
}

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** Returns the request with an index that counts over all connections. */
  readonly request: (index: number) => Request;
  /** Returns the source address of the next connection. */
  readonly from?: () => string;
  readonly requests?: number;
  readonly onReply?: (reply: Reply) => void;
  readonly signal: AbortSignal;
}

/** Applies a closed-loop load: each connection sends its next request once it has the response to its previous one. */
export async function applyLoad(load: Load): Promise<Statuses> {
  const { port, connections, from, request, requests = Number.POSITIVE_INFINITY, signal } = load;
  const statuses = new Map<number, number>();
  const clients = Array.from({ length: connections }, () => openClient(port, from?.()));
  const end = () => {
    for (const client of clients) void client.destroy();
  };
  signal.addEventListener('abort', end, { once: true });
  let next = 0;
  const run = async (client: Client) => {
    while (!signal.aborted && next < requests) {
      next += 1;
      const reply = await ask(client, request(next - 1));
      if (signal.aborted) return;
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      load.onReply?.(reply);
      if (reply.status === 0) await pause(pauseMs);
    }
  };
  await Promise.all(clients.map(run));
  signal.removeEventListener('abort', end);
  end();
  return statuses;
}

/** Opens many connections, some at a time, so that none is refused. */
export async function openSockets(
  port: number,
  count: number,
  signal: AbortSignal,
  from = () => '127.0.0.1',
): Promise<Socket[]> {
  const open: Socket[] = [];
  while (open.length < count) {
    signal.throwIfAborted();
    const length = Math.min(openedAtOnce, count - open.length);
    const batch = Array.from({ length }, () => connect({ host: '127.0.0.1', port, localAddress: from() }));
    await Promise.all(batch.map((socket) => once(socket, 'connect')));
    for (const socket of batch) socket.setNoDelay(true).on('error', () => undefined);
    open.push(...batch);
  }
  return open;
}

let networks = 0;

/** A source address in a new /24 network, so that limits of a client network do not slow a measurement. */
export function newNetwork(): string {
  networks = (networks + 1) % 60_000;
  return `127.${1 + Math.floor(networks / 250)}.${1 + (networks % 250)}.1`;
}
