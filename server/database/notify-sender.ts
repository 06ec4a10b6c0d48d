import type { Pool } from 'pg';
import type { Logger } from '#server/platform/process/logger.ts';
import { type ChangeRecorder, changePayload, idsMax } from './change.ts';
import { changesChannel } from './channels.ts';

/** PostgreSQL limits payloads to 8,000 bytes. A longer list of ids is sent in several notifications. */
const payloadMaxBytes = 7_900;

/**
 * Stands for a notification without ids, after which listeners look everything up. So further ids of the subject are
 * dropped.
 */
const everything = 'everything';

/** Ids that wait to be sent, by the subject of the notification: a channel, or a team and resource type. */
type Gathered = Map<string, Set<string> | typeof everything>;

type Notice = readonly [channel: string, payload: string];

/**
 * Pause between rounds, in which notifications gather. Each round costs work in two PostgreSQL processes and in every
 * listener.
 */
const roundMs = 10;

/** How long the first change waits for more: thousands of changes of one resource type become one notification. */
const changesGatherMs = 50;

/**
 * Sends notifications: the first one at once, and those that follow during the sending and shortly after it in one
 * statement. Changes of resources wait longer than notifications that wake phones and loops.
 */
export class NotifySender {
  readonly #pool: Pool;
  readonly #logger: Logger;
  /** Waiting notifications that wake phones and loops, by channel. */
  #hints: Gathered = new Map();
  /** Waiting changes, by team and resource type. */
  #changes: Gathered = new Map();
  #changesSinceMs = 0;
  #sending: Promise<void> | undefined;
  #isDraining = false;
  #endPause = () => {};

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
  }

  notify(channel: string, ids: Iterable<string>): void {
    gather(this.#hints, channel, ids);
    this.#endPause();
    this.#sending ??= this.#sendAll();
  }

  readonly recordChange: ChangeRecorder = (teamId, type, ids) => {
    if (this.#changes.size === 0) this.#changesSinceMs = performance.now();
    gather(this.#changes, `${teamId} ${type}`, typeof ids === 'string' ? [ids] : ids, idsMax);
    this.#sending ??= this.#sendAll();
  };

  /** Resolves once all earlier notifications were sent, or their sending failed. Changes no longer gather. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    while (this.#sending) await this.#sending;
  }

  async #sendAll(): Promise<void> {
    // One commit may notify several channels in one tick. A microtask later all of them are known.
    await null;
    while (this.#hints.size > 0 || this.#changes.size > 0) {
      const hasHints = this.#hints.size > 0;
      await this.#sendRound();
      await this.#pause(!hasHints);
    }
    // Runs in the same tick as the last check, so that no later notification stays unsent.
    this.#sending = undefined;
  }

  /** @param isForChanges true if only changes wait: a notification that wakes a phone or a loop then ends the pause */
  async #pause(isForChanges: boolean): Promise<void> {
    if (isForChanges && this.#hints.size > 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, roundMs);
    if (isForChanges) this.#endPause = resolve;
    await promise;
    clearTimeout(timer);
    this.#endPause = () => {};
  }

  #takeHints(): Notice[] {
    const hints = [...this.#hints];
    this.#hints = new Map();
    return hints.flatMap(([channel, ids]) =>
      (ids === everything ? [''] : payloadsOf(ids)).map((payload) => [channel, payload] as const),
    );
  }

  #takeChanges(): Notice[] {
    const changes = [...this.#changes];
    this.#changes = new Map();
    return changes.map(([subject, ids]) => [
      changesChannel,
      changePayload(subject, ids === everything ? 'all' : ids),
    ]);
  }

  /** Never fails: the process would end with an error that no caller awaits. */
  async #sendRound(): Promise<void> {
    try {
      const areChangesDue = this.#isDraining || performance.now() - this.#changesSinceMs >= changesGatherMs;
      const notices = [...this.#takeHints(), ...(areChangesDue ? this.#takeChanges() : [])];
      if (notices.length === 0) return;
      await this.#pool.query({
        name: 'notify',
        text: 'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS notice (channel, payload)',
        values: [notices.map(([channel]) => channel), notices.map(([, payload]) => payload)],
      });
    } catch (error) {
      this.#logger.warn(
        { err: error },
        'sending notifications failed; sweeps and subscribers read again by themselves',
      );
    }
  }
}

/**
 * Adds ids to the waiting notification of a subject. An empty list, or more than `max` ids in all, makes it a
 * notification without ids.
 */
function gather(
  gathered: Gathered,
  subject: string,
  ids: Iterable<string>,
  max = Number.POSITIVE_INFINITY,
): void {
  const waiting = gathered.get(subject) ?? new Set();
  if (waiting === everything) return;
  const added = [...ids];
  for (const id of added) waiting.add(id);
  gathered.set(subject, added.length === 0 || waiting.size > max ? everything : waiting);
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
