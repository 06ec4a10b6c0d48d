import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { KeyedSemaphore, type QueueBounds } from '#server/platform/concurrency/keyed-semaphore.ts';
import type { MaybePromise } from '#server/platform/concurrency/maybe-promise.ts';
import { isDisconnected } from '#server/platform/http/client-disconnect.ts';
import { bodyMaxBytes } from '#server/platform/http/limits.ts';
import { deviceBodyWaitMaxMs, largeDeviceBodiesMax } from './limits.ts';

const queue: QueueBounds = {
  name: 'body',
  waitingMax: Number.POSITIVE_INFINITY,
  waitMaxMs: deviceBodyWaitMaxMs,
  refuse: () => unavailable('Too many large bodies of this phone wait.'),
};

/**
 * Bounds the memory of the bodies of one device token (specification section 11.7). A few large ones are read at a
 * time; the others stay unread until one of those calls is answered. Small ones are not delayed.
 */
export class BodyLimiter {
  readonly #semaphore: KeyedSemaphore;

  constructor({ clock }: Pick<Runtime, 'clock'>) {
    this.#semaphore = new KeyedSemaphore({ clock, runningMax: largeDeviceBodiesMax });
  }

  /** Resolves once the body may be read. @throws AppError 503 after the time-out */
  admit(key: string, request: FastifyRequest, reply: FastifyReply): MaybePromise<void> {
    if (!isLarge(request)) return undefined;
    return new Promise((resolve, reject) => {
      const read = () => {
        resolve();
        return untilClosed(reply);
      };
      this.#semaphore.run(key, queue, read).catch(reject);
    });
  }
}

/** Node reads as much of every request into memory before a handler reads any. */
function isLarge({ raw: { headers } }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > bodyMaxBytes;
}

/** Resolves once the call is answered or its phone has left. */
async function untilClosed(reply: FastifyReply): Promise<void> {
  if (!isDisconnected(reply)) await new Promise<void>((resolve) => reply.raw.once('close', resolve));
}
