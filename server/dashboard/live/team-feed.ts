import { type ResourceType, resourceTypes } from '#contract/change.ts';
import type { LiveRows } from '#contract/live.ts';
import type { Changes } from '#server/dashboard/changes.ts';
import type { Change } from '#server/database/change.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Semaphore } from '#server/platform/concurrency/semaphore.ts';
import { Throttle } from '#server/platform/concurrency/throttle.ts';
import { publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { GatheredChanges, typesWithRows } from './gathered-changes.ts';
import {
  changedIntervalMs,
  changesGatherMs,
  refreshIntervalMs,
  rowsIntervalMs,
  rowsMaxBytes,
} from './limits.ts';
import { type LiveStream, liveEvent } from './live-stream.ts';
import { MessageWindow } from './message-window.ts';
import { readRows } from './read-rows.ts';

export type FeedServices = Pick<Runtime, 'database' | 'clock' | 'logger'> & {
  readonly changes: Changes;
  /** Limits the reads of all teams that run at a time. */
  readonly reads: Semaphore;
};

/**
 * Follows the changes of one team while it has live streams (decision 0018). It reads rows once, and sends the same
 * bytes to all streams whose members may read the same types.
 */
export class TeamFeed {
  readonly #services: FeedServices;
  readonly #teamId: TeamId;
  readonly #streams = new Set<LiveStream>();
  readonly #gathered = new GatheredChanges();
  readonly #rows: Throttle;
  readonly #changed: Throttle;
  readonly #unsubscribe: () => void;
  #window: MessageWindow;
  #cancelRefresh = () => {};
  #hasFailed = false;

  constructor(services: FeedServices, teamId: TeamId) {
    const { clock, changes } = services;
    this.#services = services;
    this.#teamId = teamId;
    this.#window = new MessageWindow(clock.nowMs());
    const common = { clock, gatherMs: changesGatherMs };
    this.#rows = new Throttle({ ...common, intervalMs: rowsIntervalMs, run: () => this.#sendRows() });
    this.#changed = new Throttle({
      ...common,
      intervalMs: changedIntervalMs,
      run: async () => this.#sendChanged(),
    });
    this.#unsubscribe = changes.subscribe(teamId, (change) => this.#onChange(change));
    this.#refreshLater();
  }

  get streams(): ReadonlySet<LiveStream> {
    return this.#streams;
  }

  add(stream: LiveStream): void {
    this.#streams.add(stream);
  }

  remove(stream: LiveStream): void {
    this.#streams.delete(stream);
  }

  close(): void {
    this.#unsubscribe();
    this.#cancelRefresh();
    this.#rows.stop();
    this.#changed.stop();
  }

  #onChange(change: Change | 'everything'): void {
    if (change === 'everything') {
      for (const stream of this.#streams) stream.check();
      this.#send('reload', () => ({}));
      return;
    }
    if (change.resource === 'member') for (const stream of this.#streams) stream.check();
    this.#gathered.add(change);
    this.#request();
  }

  #request(): void {
    if (this.#gathered.hasRows) this.#rows.request();
    if (this.#gathered.hasChanged) this.#changed.request();
  }

  async #sendRows(): Promise<void> {
    const { logger, reads } = this.#services;
    const wanted = this.#gathered.takeRows();
    try {
      const { rows, tooMany } = await reads.run(() =>
        readRows(this.#services, this.#teamId, wanted, this.#window),
      );
      this.#hasFailed = false;
      this.#gathered.announce(...tooMany, ...this.#sendVisible(rows));
    } catch (error) {
      // The event `changed` makes browsers read the rows themselves. Only the first of several failures in a row is
      // logged.
      this.#gathered.announce(...typesWithRows);
      if (!this.#hasFailed)
        logger.warn({ err: error, team: publicId('team', this.#teamId) }, 'reading for live streams failed');
      this.#hasFailed = true;
    }
    this.#request();
  }

  /** @returns the types whose rows were too large to send */
  #sendVisible(all: LiveRows): ResourceType[] {
    const isLarge = Buffer.byteLength(JSON.stringify(all.messages)) > rowsMaxBytes;
    const { usage, ...lists } = isLarge ? { ...all, messages: [], conversations: [] } : all;
    this.#send('rows', (visible) => {
      const rows = {
        ...lists,
        ...(visible.includes('message') ? {} : { messages: [], conversations: [] }),
        ...(visible.includes('number') ? {} : { numbers: [], numbers_complete: false, removed_numbers: [] }),
        ...(usage && visible.includes('usage') ? { usage } : {}),
      };
      return isEmpty(rows) ? undefined : rows;
    });
    return isLarge ? ['message'] : [];
  }

  #sendChanged(): void {
    const changed = this.#gathered.takeChanged();
    this.#send('changed', (visible) => {
      const resources = visible.filter((type) => changed.has(type));
      return resources.length > 0 ? { resources } : undefined;
    });
  }

  /** Serializes an event once for all streams whose members may read the same types. */
  #send<N extends Parameters<typeof liveEvent>[0]>(
    name: N,
    dataFor: (visible: readonly ResourceType[]) => Parameters<typeof liveEvent<N>>[1] | undefined,
  ): void {
    const made = new Map<string, Buffer | undefined>();
    for (const stream of [...this.#streams]) {
      const key = stream.visible.join();
      if (!made.has(key)) {
        const data = dataFor(stream.visible);
        made.set(key, data && liveEvent(name, data));
      }
      const event = made.get(key);
      if (event) stream.send(event);
    }
  }

  #refreshLater(): void {
    this.#cancelRefresh = this.#services.clock.after(refreshIntervalMs, () => {
      this.#refreshLater();
      this.#gathered.refresh();
      this.#gathered.announce(...resourceTypes.filter((type) => !typesWithRows.includes(type)));
      this.#request();
    });
  }
}

function isEmpty({ messages, conversations, numbers, removed_numbers, usage }: LiveRows): boolean {
  const lists = [messages, conversations, numbers, removed_numbers];
  return lists.every((list) => list.length === 0) && usage === undefined;
}
