import { type Change, parseChange } from '#server/database/change.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import type { Logger } from '#server/platform/process/logger.ts';

/** Is told what changed in a team; `everything` where something may have been missed. */
export type ChangeListener = (change: Change | 'everything') => void;

/**
 * What changes in teams, for those in this process who show it (decision 0018). It is a hint to read again, and may be
 * one for nothing: whoever hears it reads, and whoever shows something reads by itself too, every 30 s at least.
 */
export class Changes {
  readonly #logger: Logger;
  readonly #teams = new Map<TeamId, Set<ChangeListener>>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @returns what ends it; whoever subscribes reads after that, so that nothing lies in between */
  subscribe(teamId: TeamId, listener: ChangeListener): () => void {
    // One of its own for each subscription, whoever else has the same function.
    const own: ChangeListener = (change) => listener(change);
    const listeners = this.#teams.get(teamId) ?? new Set();
    this.#teams.set(teamId, listeners.add(own));
    return () => {
      // Once the last has left, later ones have a set of their own.
      if (listeners.delete(own) && listeners.size === 0) this.#teams.delete(teamId);
    };
  }

  /** @param payload of a notification; '' after the connection was made, or made anew */
  onNotification(payload: string): void {
    if (payload === '') {
      for (const listeners of [...this.#teams.values()]) this.#emit(listeners, 'everything');
      return;
    }
    const change = parseChange(payload);
    if (change) this.#emit(this.#teams.get(change.teamId), { resource: change.resource, ids: change.ids });
  }

  #emit(listeners: ReadonlySet<ChangeListener> | undefined, change: Change | 'everything'): void {
    // A copy: who is told may subscribe and leave.
    for (const listener of [...(listeners ?? [])]) {
      try {
        listener(change);
      } catch (error) {
        this.#logger.error({ err: error }, 'somebody who is told of changes failed');
      }
    }
  }
}
