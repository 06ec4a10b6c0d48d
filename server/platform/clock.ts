/** The longest that a timer of Node waits; one that is to wait longer fires after a millisecond. */
const timerMaxMs = 2 ** 31 - 1;

/**
 * The one clock of a process (specification section 2.1, decision 0007). It follows the database's clock on a
 * monotonic base, so that all processes agree and a change of the host's clock moves nothing; SQL never calls
 * now(), it is given the time from here. Tests move it.
 *
 * Where the database's clock steps back, stamps stand still until it has caught up; how long something takes is
 * counted by `elapsedMs`, which nothing but the passing of time (and a test) moves.
 */
export class Clock {
  #offsetMs = performance.timeOrigin;
  #movedMs = 0;
  #latestMs = 0;
  readonly #alarms = new Set<() => void>();

  /** Milliseconds since 1970, never smaller than the answer before. */
  nowMs(): number {
    const readMs = Math.floor(performance.now() + this.#offsetMs + this.#movedMs);
    this.#latestMs = Math.max(this.#latestMs, readMs);
    return this.#latestMs;
  }

  /** A count that only grows, for lengths of time within this process: holds, caches, time-outs. */
  elapsedMs(): number {
    return performance.now() + this.#movedMs;
  }

  now(): Date {
    return new Date(this.nowMs());
  }

  /** The moment `ms` from now; negative for the past. */
  in(ms: number): Date {
    return new Date(this.nowMs() + ms);
  }

  /**
   * Takes over the database's time.
   * @param databaseMs what the database's clock said, halfway between asking and hearing
   */
  follow(databaseMs: number, measuredAtMs: number): void {
    this.#offsetMs = databaseMs - measuredAtMs;
  }

  /** Calls back once `ms` have passed. The returned function cancels. */
  after(ms: number, callback: () => void): () => void {
    const dueMs = this.elapsedMs() + ms;
    let timer: NodeJS.Timeout | undefined;
    const cancel = () => {
      clearTimeout(timer);
      this.#alarms.delete(check);
    };
    const check = () => {
      clearTimeout(timer);
      const leftMs = dueMs - this.elapsedMs();
      if (leftMs <= 0) {
        cancel();
        callback();
      } else {
        timer = setTimeout(check, Math.min(leftMs, timerMaxMs));
      }
    };
    this.#alarms.add(check);
    check();
    return cancel;
  }

  /** For tests: the time of everything that follows this clock jumps ahead. */
  advance(ms: number): void {
    this.#movedMs += ms;
    for (const check of [...this.#alarms]) check();
  }
}
