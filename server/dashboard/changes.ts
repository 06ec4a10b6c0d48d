import { type Change, parseChange } from '#server/database/change.ts';
import type { TeamId } from '#server/platform/ids.ts';
import type { Logger } from '#server/platform/process/logger.ts';

/** Receives the changes of a team; `everything` after a gap in which some may have been missed. */
export type ChangeListener = (change: Change | 'everything') => void;

/**
 * Changes in teams, for subscribers in this process (decision 0018). A change is a hint to read again, and may be
 * spurious. Subscribers also read without a hint, at least every 30 s.
 */
export class Changes {
  readonly #logger: Logger;
  readonly #teams = new Map<TeamId, Set<ChangeListener>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Subscribes to the changes of a team. Subscribe first and then read, so that no change is missed. @returns a
   * function that ends the subscription
   */
  subscribe(teamId: TeamId, listener: ChangeListener): () => void {
    // The listener is wrapped, so that the same function can subscribe twice.
    const own: ChangeListener = (change) => listener(change);
    const listeners = this.#teams.get(teamId) ?? new Set();
    this.#teams.set(teamId, listeners.add(own));
    return () => {
      // An empty set is deleted; a later subscription creates a new one.
      if (listeners.delete(own) && listeners.size === 0) this.#teams.delete(teamId);
    };
  }

  /** @param payload the notification's payload; '' after the listener connected or reconnected */
  onNotification(payload: string): void {
    if (payload === '') {
      for (const listeners of [...this.#teams.values()]) this.#emit(listeners, 'everything');
      return;
    }
    const told = parseChange(payload);
    if (!told) return;
    const { teamId, ...change } = told;
    this.#emit(this.#teams.get(teamId), change);
  }

  #emit(listeners: ReadonlySet<ChangeListener> | undefined, change: Change | 'everything'): void {
    // Walks over a copy of the set, because listeners may subscribe and unsubscribe in the call.
    for (const listener of [...(listeners ?? [])]) {
      try {
        listener(change);
      } catch (error) {
        this.#logger.error({ err: error }, 'a subscriber to changes failed');
      }
    }
  }
}
