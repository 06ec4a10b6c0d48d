import { firstIdAt, type MessageId } from '#server/platform/ids/ids.ts';
import { commitDelayMs, rowMessagesMax } from './limits.ts';

/**
 * Finds the new messages among the newest ids of a team. Commits are not in the order of ids: each read goes back by
 * `commitDelayMs`, and the window remembers the ids that it has returned.
 */
export class MessageWindow {
  #firstId: string;
  #known = new Set<MessageId>();

  constructor(nowMs: number) {
    this.#firstId = firstIdAt(nowMs - commitDelayMs);
  }

  /** The lowest id to read. */
  get firstId(): string {
    return this.#firstId;
  }

  /** How many ids to read, newest first: those that are known, and one more than may be new. */
  get idsMax(): number {
    return this.#known.size + rowMessagesMax + 1;
  }

  /**
   * @param ids the ids of the window, newest first, `idsMax` at most
   * @returns the new ones; undefined where they are too many, which are then passed over
   */
  take(ids: readonly MessageId[], nowMs: number): MessageId[] | undefined {
    const found = ids.filter((id) => !this.#known.has(id));
    const [newest] = ids;
    if (found.length > rowMessagesMax && newest !== undefined) {
      this.#firstId = newest;
      this.#known = new Set([newest]);
      return undefined;
    }
    const firstId = firstIdAt(nowMs - commitDelayMs);
    if (firstId > this.#firstId) this.#firstId = firstId;
    this.#known = new Set(ids.filter((id) => id >= this.#firstId));
    return found;
  }
}
