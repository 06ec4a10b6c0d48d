import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, which Node does not list. */
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

/** The counters of a socket's handle; Node's own time-outs of sockets read the second one too. */
interface StreamHandle {
  /** Bytes written to it so far. */
  readonly bytesWritten: number;
  /** Bytes of these that the kernel has not taken yet. */
  readonly writeQueueSize: number;
}

/** Bytes that the kernel has taken: part of a large Buffer counts, which `socket.bytesWritten` can't tell. */
export function flushedBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: StreamHandle | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}
