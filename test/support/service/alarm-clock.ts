import { Clock } from '#server/platform/time/clock.ts';

/**
 * A clock that says when its alarms are due: a test moves the time to the next one, and waits for nothing meanwhile.
 * Checks that repeat are left out: an alarm that is set while another one fires is one of those.
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

  /** Waits for an alarm that is due within this time. @returns in how many milliseconds, at least 1 */
  async untilAlarm(withinMs: number): Promise<number> {
    for (;;) {
      const inMs = Math.min(...[...this.#alarms].map(({ dueMs }) => dueMs)) - this.elapsedMs();
      if (inMs <= withinMs) return Math.max(1, Math.ceil(inMs));
      await this.#changed.promise;
    }
  }
}
