import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Headers of a stream of server-sent events. nginx buffers answers without the second one. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
} as const;

/** An event as it goes over the wire. JSON has no line break, so its data is one line. */
export function formatEvent(name: string, data: unknown): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** How long a browser waits before it opens an ended stream again. */
export function formatRetry(ms: number): Buffer {
  return Buffer.from(`retry: ${ms}\n\n`);
}

/** A comment: keeps proxies from closing an idle stream, and shows a client that has left. */
export const keepAliveComment = Buffer.from(':\n\n');

/**
 * A stream of server-sent events: an answer without an end of its own. Bytes that its client has not taken are bounded;
 * past the bound the connection is destroyed, and the client opens the stream again.
 */
export class EventStream {
  readonly #raw: ServerResponse;
  readonly #bufferMaxBytes: number;

  /** Takes over the answer of a handler, and sends its head. */
  constructor(reply: FastifyReply, bufferMaxBytes: number) {
    reply.hijack();
    this.#raw = reply.raw;
    this.#bufferMaxBytes = bufferMaxBytes;
    for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...eventStreamHeaders }))
      if (value !== undefined) this.#raw.setHeader(name, value);
    this.#raw.writeHead(200);
  }

  /** Calls back once, when the connection is closed or the stream has ended. */
  onClose(callback: () => void): void {
    if (this.#raw.destroyed) callback();
    else this.#raw.once('close', callback);
  }

  /** @returns false where the client was too slow, and its connection was destroyed */
  write(bytes: Buffer): boolean {
    if (this.#raw.destroyed || this.#raw.writableEnded) return true;
    if (this.#raw.writableLength + bytes.length > this.#bufferMaxBytes) {
      this.#raw.destroy();
      return false;
    }
    this.#raw.write(bytes);
    return true;
  }

  end(): void {
    this.#raw.end();
  }
}
