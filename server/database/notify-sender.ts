import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from '#server/platform/process/logger.ts';

/** PostgreSQL limits payloads to 8,000 bytes. A longer list of ids is sent in several notifications. */
const payloadMaxBytes = 7_900;

/**
 * A notification without ids, which makes listeners look up all. It covers every id of its channel, so merging drops
 * the ids.
 */
const everything = 'everything';

/**
 * Pause between batches, in which notifications gather. Each batch costs work in two PostgreSQL processes and in every
 * listener.
 */
const windowMs = 10;

/**
 * Sends notifications: the first one at once, and those that follow during the sending and shortly after it as one
 * batch.
 */
export class NotifySender {
  readonly #pool: Pool;
  readonly #logger: Logger;
  #waiting = new Map<string, Set<string> | typeof everything>();
  #sending: Promise<void> | undefined;

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
  }

  notify(channel: string, ids: Iterable<string>): void {
    const waiting = this.#waiting.get(channel);
    if (waiting !== everything) this.#waiting.set(channel, merged(waiting, ids));
    this.#sending ??= this.#sendAll();
  }

  /** Resolves once all earlier notifications were sent, or their sending failed. */
  async drain(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #sendAll(): Promise<void> {
    // One commit may notify several channels in one tick. A microtask later all of them are known.
    await null;
    for (let batch = this.#take(); batch.size > 0; batch = this.#take()) {
      for (const [channel, said] of batch)
        await this.#send(channel, said === everything ? [''] : payloadsOf(said));
      await pause(windowMs);
    }
    // Runs in the same tick as the last check, so that no later notification stays unsent.
    this.#sending = undefined;
  }

  #take(): Map<string, Set<string> | typeof everything> {
    const batch = this.#waiting;
    this.#waiting = new Map();
    return batch;
  }

  async #send(channel: string, payloads: readonly string[]): Promise<void> {
    try {
      await this.#pool.query({
        name: 'notify',
        text: 'SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload',
        values: [channel, payloads],
      });
    } catch (error) {
      this.#logger.warn({ err: error, channel }, 'sending a notification failed; the next sweep replaces it');
    }
  }
}

function merged(waiting: Set<string> | undefined, ids: Iterable<string>): Set<string> | typeof everything {
  const added = new Set(ids);
  if (added.size === 0) return everything;
  if (!waiting) return added;
  for (const id of added) waiting.add(id);
  return waiting;
}

/** Joins ids, which are ASCII, to payloads within the limit. */
function payloadsOf(ids: ReadonlySet<string>): string[] {
  const payloads: string[] = [];
  for (const id of ids) {
    const last = payloads.at(-1);
    if (last === undefined || last.length + id.length >= payloadMaxBytes) payloads.push(id);
    else payloads[payloads.length - 1] = `${last},${id}`;
  }
  return payloads;
}
