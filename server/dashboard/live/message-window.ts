import { firstIdAt, type MessageId } from '#server/platform/ids/ids.ts';
import { commitDelayMs, rowMessagesMax } from './limits.ts';

/**
 * Finds new messages among a team's newest ids. Messages do not commit in the order of ids. So each read goes back by
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

  /** The number of ids to read, newest first: those already known, and one more than are sent. */
  get idsMax(): number {
    return this.#known.size + rowMessagesMax + 1;
  }

  /**
   * Takes the ids of the window, newest first, at most `idsMax`.
   * @returns the new ids; undefined if there are too many, which are then skipped
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
