import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { takeOver } from './stream-answer.ts';

/** Headers of a stream of server-sent events. Without `x-accel-buffering` nginx would buffer it. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
} as const;

/** Formats an event for the wire. JSON has no line breaks, so the data is one line. */
export function formatEvent(name: string, data: unknown): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

export function formatRetry(ms: number): Buffer {
  return Buffer.from(`retry: ${ms}\n\n`);
}

/** A comment that keeps proxies from closing an idle stream, and reveals a client that has disconnected. */
export const keepAliveComment = Buffer.from(':\n\n');

/**
 * A stream of server-sent events, an answer without an end. Its unsent bytes are bounded: above the bound the
 * connection is destroyed, and the client reconnects.
 */
export class EventStream {
  readonly #raw: ServerResponse;
  readonly #bufferMaxBytes: number;

  constructor(reply: FastifyReply, bufferMaxBytes: number) {
    this.#raw = takeOver(reply, { status: 200, headers: eventStreamHeaders });
    this.#bufferMaxBytes = bufferMaxBytes;
  }

  /** Calls back once, after the connection is closed or the stream has ended. */
  onClose(callback: () => void): void {
    if (this.#raw.destroyed) callback();
    else this.#raw.once('close', callback);
  }

  /** Writes an event. @returns false if the client was too slow and its connection was destroyed */
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
