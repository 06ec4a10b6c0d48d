import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait on a connection. No client in use pipelines as many. */
export const waitingMax = 32;

/**
 * Serves pipelined requests of a connection one after the other: Node starts all that arrive in a segment at once, which
 * are 1,000 and more. A connection on which too many wait is destroyed.
 */
export class Pipelining {
  readonly #waiting = new WeakMap<Socket, number>();

  /** Calls back at once where no answer before it is open, otherwise when the one before has left, in a turn of its own. */
  whenDue({ socket }: IncomingMessage, response: ServerResponse, start: () => void): void {
    // A response has its socket once all responses before it are finished.
    if (response.socket !== null) {
      start();
      return;
    }
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    this.#waiting.set(socket, waiting);
    if (waiting > waitingMax) {
      socket.destroy();
      return;
    }
    response.once('socket', () => {
      this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1);
      setImmediate(start);
    });
  }
}
