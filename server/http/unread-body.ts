import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#server/platform/time/clock.ts';
import { delayedCloseMs, delayedClosesMax, drainMaxBytes, drainTimeoutMs } from './limits.ts';

/**
 * Lingering close (RFC 9112, section 9.6) for requests whose body is not read. The answer is sent, nothing more is
 * read, and the connection is closed 2 s later. An immediate close would reset it before the client reads the answer.
 * Reading the rest would spend event loop time on bodies that are discarded.
 */
export class DelayedClose {
  readonly #clock: Clock;
  readonly #lingering = new Set<Socket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Delays the close of a request's connection. Call it before the answer is sent. Above the limit of such connections,
   * this one is closed at once.
   */
  apply({ raw }: FastifyRequest, reply: FastifyReply): void {
    reply.header('connection', 'close');
    const { socket } = raw;
    if (this.#lingering.size >= delayedClosesMax) return;
    // Marks the body as read; otherwise Node would read and discard all of it after the answer.
    raw.read(0);
    socket.pause();
    // Node calls destroySoon after the last answer of a connection; here it starts the delay.
    socket.destroySoon = () => {
      this.#lingering.add(socket);
      const cancel = this.#clock.after(delayedCloseMs, () => socket.destroy());
      socket.once('close', () => {
        cancel();
        this.#lingering.delete(socket);
      });
      socket.end();
    };
  }
}

/** Whether the unread rest of a body is too large to read and discard, or of unknown length. */
export function hasLargeRest({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > drainMaxBytes;
}

/**
 * Drains a body, so that the answer to a refused request arrives. A connection that is closed while its client still
 * writes is reset, and the answer is lost.
 * @returns false for a body over 64 KB or slower than 10 s, whose connection must be closed
 */
export async function drainBody({ raw }: FastifyRequest, clock: Clock): Promise<boolean> {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = raw.headers;
  if (raw.readableEnded || (length === '0' && coding === undefined)) return true;
  if (Number(length) > drainMaxBytes) return false;
  return new Promise((resolve) => {
    let bytes = 0;
    const finish = (isDrained: boolean) => {
      cancelTimeout();
      raw.off('data', count).off('end', end).off('close', end);
      if (!isDrained) raw.pause();
      resolve(isDrained);
    };
    const end = () => finish(true);
    const count = (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > drainMaxBytes) finish(false);
    };
    const cancelTimeout = clock.after(drainTimeoutMs, () => finish(false));
    raw.on('data', count).once('end', end).once('close', end);
  });
}
