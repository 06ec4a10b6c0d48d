import type { Pool } from 'pg';
import type { ResourceType } from '#contract/change.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { type Change, type ChangeRecorder, formatChange, idsMax } from './change.ts';
import { changesChannel } from './channels.ts';

/** How long the first change waits for more: thousands of changes of one resource type become one notification. */
const windowMs = 50;

/** The changes of one team and resource type that were gathered and are sent together at the end of the window. */
type Gathered = Omit<Change, 'resource' | 'ids'> & { readonly ids: Set<string> | 'all' };

/**
 * Notifies every process of committed changes, by team and resource type. One statement sends all changes of some 50
 * ms. NotifySender is separate, because phones and loops that it wakes must wait far less.
 */
export class ChangeNotifySender {
  readonly #pool: Pool;
  readonly #logger: Logger;
  #waiting = new Map<TeamId, Map<ResourceType, Gathered>>();
  #sending: Promise<void> | undefined;
  #flushNow: (() => void) | undefined;

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
  }

  readonly record: ChangeRecorder = (teamId, type, ids) => {
    const byType = this.#waiting.get(teamId) ?? new Map<ResourceType, Gathered>();
    const waiting = byType.get(type) ?? { ids: new Set<string>() };
    if (waiting.ids === 'all') return;
    this.#waiting.set(teamId, byType.set(type, merged({ ...waiting, ids: waiting.ids }, ids)));
    this.#sending ??= this.#sendAll();
  };

  /** Sends the gathered changes at once. Resolves once all recorded changes were sent, or their sending failed. */
  async drain(): Promise<void> {
    this.#flushNow?.();
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      await this.#gather();
      const teams = this.#waiting;
      this.#waiting = new Map();
      await this.#send(
        [...teams].flatMap(([teamId, byType]) =>
          [...byType].map(([resource, gathered]) => formatChange(teamId, { resource, ...gathered })),
        ),
      );
    }
    // This line runs in the same tick as the last check of the gathered changes, so that no later change is missed.
    this.#sending = undefined;
  }

  async #gather(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, windowMs);
    this.#flushNow = resolve;
    await promise;
    clearTimeout(timer);
  }

  async #send(payloads: readonly string[]): Promise<void> {
    try {
      await this.#pool.query({
        name: 'notify-changes',
        text: 'SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload',
        values: [changesChannel, payloads],
      });
    } catch (error) {
      this.#logger.warn(
        { err: error },
        'sending change notifications failed; subscribers read again by themselves',
      );
    }
  }
}

function merged(
  { ids: all, created }: Gathered & { readonly ids: Set<string> },
  ids: Parameters<ChangeRecorder>[2],
): Gathered {
  if (ids === 'created') return { ids: all, created: true };
  for (const id of ids) all.add(id);
  if (ids.length === 0 || all.size > idsMax) return { ids: 'all' };
  return created ? { ids: all, created } : { ids: all };
}
