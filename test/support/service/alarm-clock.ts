import { Clock } from '#server/platform/time/clock.ts';

/**
 * A clock that reports its next timer, so that a test can move the time there at once. Timers that are set while
 * another one fires are skipped, because they are repeating checks.
 */
export class AlarmClock extends Clock {
  readonly #alarms = new Set<{ readonly dueMs: number }>();
  #changed = Promise.withResolvers<void>();
  #isFiring = false;

  override after(ms: number, callback: () => void): () => void {
    const alarm = { dueMs: this.elapsedMs() + ms };
    if (!this.#isFiring) {
      this.#alarms.add(alarm);
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    }
    const cancel = super.after(ms, () => {
      this.#alarms.delete(alarm);
      this.#isFiring = true;
      try {
        callback();
      } finally {
        this.#isFiring = false;
      }
    });
    return () => {
      this.#alarms.delete(alarm);
      cancel();
    };
  }

  /** Waits until a timer is set that is due within this time. @returns the milliseconds until that timer, at least 1 */
  async untilAlarm(withinMs: number): Promise<number> {
    for (;;) {
      const inMs = Math.min(...[...this.#alarms].map(({ dueMs }) => dueMs)) - this.elapsedMs();
      if (inMs <= withinMs) return Math.max(1, Math.ceil(inMs));
      await this.#changed.promise;
    }
  }
}
