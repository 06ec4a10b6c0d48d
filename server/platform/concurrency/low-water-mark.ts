/**
 * How long a position has to be the lowest known one before the mark rises to it. By then, most transactions that took
 * a lower position have ended.
 */
export const riseAfterMs = 2_000;

/**
 * Options of the loop that looks at the whole queue. With many dead rows a look takes a second of CPU, so `shareMax`
 * makes looks rare.
 */
export const wholeLook = { intervalMs: 1_000, shareMax: 0.03 } as const;

/** The lowest position before any was seen. */
const bottom = 0;

/**
 * Low-water mark of a queue: no row below it was live when this process last looked. Statements that read the first rows
 * begin there, because an open snapshot, such as that of a backup, keeps all dead rows before it. A row below the mark,
 * whose transaction ended late, is found by a look at the whole queue, which lowers the mark.
 */
export class LowWaterMark {
  #position = bottom;
  #next: { position: number; readonly sinceMs: number } | undefined;

  get position(): number {
    return this.#position;
  }

  /**
   * Records the lowest live position that a statement saw from the mark on, or the end of the queue.
   * @param nowMs a reading of a steady clock, such as `performance.now()`
   */
  see(position: number, nowMs: number): void {
    this.#next ??= { position, sinceMs: nowMs };
    this.#next.position = Math.min(this.#next.position, position);
    if (nowMs - this.#next.sinceMs < riseAfterMs) return;
    this.#position = this.#next.position;
    this.#next = { position, sinceMs: nowMs };
  }

  /** Lowers the mark to a live position, because a row was written or found there. */
  lower(position: number): void {
    this.#position = Math.min(this.#position, position);
    if (this.#next) this.#next.position = Math.min(this.#next.position, position);
  }
}
