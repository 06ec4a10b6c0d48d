import type { ResourceType } from '#contract/change.ts';
import type { Change } from '#server/database/change.ts';
import { rowMessagesMax } from './limits.ts';

/** The rows that a live stream has to read because they changed. */
export interface WantedRows {
  /** The ids of changed messages. */
  readonly messageIds: ReadonlySet<string>;
  /** True if messages were created whose ids are not known. */
  readonly hasNewMessages: boolean;
  readonly numberIds: ReadonlySet<string>;
  readonly usage: boolean;
  /** True if all numbers, the newest messages and the usage are read, even if none of them changed. */
  readonly isRefresh: boolean;
}

/** Resource types whose rows are sent. For the other types, a stream only says that they changed. */
export const typesWithRows: readonly ResourceType[] = ['message', 'number', 'usage'];

/** Gathers a team's changes until they are sent: the rows to read, and the resource types to announce. */
export class GatheredChanges {
  #messageIds = new Set<string>();
  #hasNewMessages = false;
  #numberIds = new Set<string>();
  #usage = false;
  #isRefresh = false;
  #changed = new Set<ResourceType>();

  add({ resource, ids, created }: Change): void {
    this.#changed.add(resource);
    if (resource === 'usage') this.#usage = true;
    else if (typesWithRows.includes(resource) && ids !== 'all') {
      const gathered = resource === 'message' ? this.#messageIds : this.#numberIds;
      for (const id of ids) gathered.add(id);
      if (created) this.#hasNewMessages = true;
      if (gathered.size > rowMessagesMax) gathered.clear();
    }
  }

  announce(...types: readonly ResourceType[]): void {
    for (const type of types) this.#changed.add(type);
  }

  refresh(): void {
    this.#isRefresh = true;
  }

  get hasRows(): boolean {
    return (
      this.#messageIds.size > 0 ||
      this.#hasNewMessages ||
      this.#numberIds.size > 0 ||
      this.#usage ||
      this.#isRefresh
    );
  }

  takeRows(): WantedRows {
    const wanted = {
      messageIds: this.#messageIds,
      hasNewMessages: this.#hasNewMessages,
      numberIds: this.#numberIds,
      usage: this.#usage,
      isRefresh: this.#isRefresh,
    };
    this.#messageIds = new Set();
    this.#numberIds = new Set();
    this.#hasNewMessages = this.#usage = this.#isRefresh = false;
    return wanted;
  }

  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  takeChanged(): ReadonlySet<ResourceType> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }
}
