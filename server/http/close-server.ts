import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { stopFlushMs, stopIncompleteRequestMs, stopStalledMs } from './limits.ts';

const idleCloseMs = 50;

const quietWithinMs = 500;

/**
 * Graceful shutdown: accepts no new connection, and answers every request that had arrived whole. Idle connections are
 * closed at once. A connection with an incomplete request is closed soon after all others are answered.
 * @param graceMs time for a request to become complete, once all others are answered
 */
export async function closeServer(server: FastifyInstance, graceMs = stopIncompleteRequestMs): Promise<void> {
  if (server.server.listening) await untilQuiet(server);
  keepWhileBytesWait(server);
  const ended = [stopListening(server.server), server.extraListeners.close()];
  const closing = setInterval(() => server.server.closeIdleConnections(), idleCloseMs).unref();
  const closed = new AbortController();
  const unfinished = closeUnfinished(server, graceMs, closed.signal);
  await Promise.all([server.close(), ...ended]);
  clearInterval(closing);
  closed.abort();
  await unfinished;
}

/**
 * Keeps connections with unsent bytes open. Node counts a connection as idle once its answer is written to the socket,
 * and closing it would cut off the rest.
 */
function keepWhileBytesWait({ server, openSockets }: FastifyInstance): void {
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    if (waitingSockets(openSockets).length === 0) closeIdle();
  };
}

/** Closes the connections that remain after all complete requests are answered, so that no client can delay a stop. */
async function closeUnfinished(server: FastifyInstance, graceMs: number, closed: AbortSignal): Promise<void> {
  await untilAnswered(server, closed);
  await pause(graceMs, undefined, { signal: closed, ref: false }).catch(() => undefined);
  // If the event loop was blocked meanwhile, complete requests may still be unread.
  await untilQuiet(server);
  await untilAnswered(server, closed);
  server.server.closeAllConnections();
}

/** Resolves once no handler runs, and each client that still reads has received its answer. */
async function untilAnswered({ inFlight, openSockets }: FastifyInstance, closed: AbortSignal): Promise<void> {
  await inFlight.drain();
  await untilFlushed(openSockets, closed);
}

async function untilFlushed(openSockets: OpenSockets, closed: AbortSignal): Promise<void> {
  // The last handler may write its answer in this iteration of the event loop, so the next one is awaited.
  await endOfRound();
  const deadlineMs = performance.now() + stopFlushMs;
  let stalledAtMs = performance.now() + stopStalledMs;
  for (let before = -1; performance.now() < Math.min(deadlineMs, stalledAtMs) && !closed.aborted; ) {
    const waiting = waitingSockets(openSockets);
    if (waiting.length === 0) return;
    const taken = sum(waiting, flushedBytes);
    if (taken !== before) stalledAtMs = performance.now() + stopStalledMs;
    before = taken;
    await pause(idleCloseMs, undefined, { ref: false });
  }
}

function waitingSockets(openSockets: OpenSockets): readonly Socket[] {
  return [...openSockets].filter(({ writableLength }) => writableLength > 0);
}

/**
 * Resolves after an iteration of the event loop that accepted no connection and read nothing. Closing the listening
 * socket earlier would reset connections in the kernel's backlog. A connection also looks idle while its next request
 * is unread.
 */
async function untilQuiet({ server, openSockets }: FastifyInstance): Promise<void> {
  let met = 0;
  const count = () => {
    met += 1;
  };
  const progress = () => met + sum([...openSockets], ({ bytesRead }) => bytesRead);
  server.on('connection', count).on('request', count);
  const deadlineMs = performance.now() + quietWithinMs;
  // The current iteration has already read events, so it does not count.
  await endOfRound();
  for (let before = -1; before !== progress() && performance.now() < deadlineMs; ) {
    before = progress();
    await endOfRound();
  }
  server.off('connection', count).off('request', count);
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

function endOfRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** The open connections of a server, which Node does not list. */
export class OpenSockets {
  readonly #sockets = new Set<Socket>();

  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  [Symbol.iterator](): Iterator<Socket> {
    return this.#sockets.values();
  }
}

/** The byte counters of a socket's internal handle; Node's own socket time-outs read writeQueueSize too. */
interface StreamHandle {
  /** Bytes written to the handle so far, sent or not. */
  readonly bytesWritten: number;
  /** Bytes written to the handle that the kernel has not taken yet. */
  readonly writeQueueSize: number;
}

/**
 * Bytes that the kernel has taken. Unlike `socket.bytesWritten`, the result includes the taken part of a large Buffer.
 */
export function flushedBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: StreamHandle | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/** Wait group: counts the tasks in flight; `drain` resolves once none is left. */
export class WaitGroup {
  #count = 0;
  #waiting: (() => void)[] = [];

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async drain(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
