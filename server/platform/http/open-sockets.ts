import type { Server } from 'node:http';
import type { Socket } from 'node:net';

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
