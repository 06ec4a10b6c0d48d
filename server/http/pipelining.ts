import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipelinedRequestsMax } from './limits.ts';

/**
 * Serves the pipelined requests of a connection one after the other. Node would start all requests that arrive in one
 * TCP segment at once, perhaps more than 1,000. A connection with too many waiting requests is destroyed.
 */
export class PipelineQueue {
  readonly #waiting = new WeakMap<Socket, number>();

  /** Calls `start` once every earlier response of the connection is finished. */
  enqueue({ socket }: IncomingMessage, response: ServerResponse, start: () => void): void {
    // Node gives a response its socket once all earlier responses are finished.
    if (response.socket !== null) {
      start();
      return;
    }
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    this.#waiting.set(socket, waiting);
    if (waiting > pipelinedRequestsMax) {
      socket.destroy();
      return;
    }
    response.once('socket', () => {
      this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1);
      setImmediate(start);
    });
  }
}
