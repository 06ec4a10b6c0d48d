import type { ResourceType } from '#contract/change.ts';
import type { Changes } from '#server/dashboard/changes.ts';
import type { Change } from '#server/database/change.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { Coalescer } from '#server/platform/concurrency/coalescer.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { type LiveStream, liveEvent } from './live-stream.ts';

/** Shortest time between two events `changed`: a page that then reads shows each change within a second. */
const changedIntervalMs = 900;

/** Time that the first change after a pause waits for other changes of its commit. */
const changesGatherMs = 10;

export type FeedServices = Runtime & { readonly changes: Changes };

/**
 * Follows the changes of one team while it has live streams (decision 0018). Each stream gets the changed resource
 * types that its member may read.
 */
export class TeamFeed {
  readonly streams = new Set<LiveStream>();
  readonly #coalescer: Coalescer;
  readonly #unsubscribe: () => void;
  #changed = new Set<ResourceType>();

  constructor({ clock, changes }: FeedServices, teamId: TeamId) {
    this.#coalescer = new Coalescer({
      clock,
      gatherMs: changesGatherMs,
      intervalMs: changedIntervalMs,
      run: () => this.#announce(),
    });
    this.#unsubscribe = changes.subscribe(teamId, (change) => this.#onChange(change));
  }

  close(): void {
    this.#unsubscribe();
    this.#coalescer.stop();
  }

  #onChange(change: Change | 'everything'): void {
    if (change === 'everything' || change.resource === 'member')
      for (const stream of this.streams) stream.check();
    if (change === 'everything') {
      for (const stream of this.streams) stream.send(liveEvent('reload', {}));
      return;
    }
    this.#changed.add(change.resource);
    this.#coalescer.request();
  }

  #announce(): void {
    const changed = this.#changed;
    this.#changed = new Set();
    // A stream that is too slow ends, and so leaves the set.
    for (const stream of [...this.streams]) {
      const resources = stream.visible.filter((type) => changed.has(type));
      if (resources.length > 0) stream.send(liveEvent('changed', { resources }));
    }
  }
}
