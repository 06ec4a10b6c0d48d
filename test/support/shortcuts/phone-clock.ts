import type { RunClock } from '#shortcut/interpreter/run-clock.ts';
import { until } from '#test/support/service/until.ts';

interface Alarm {
  dueMs: number;
  readonly callback: () => void;
}

/** The clock of an iPhone, which stands still until the test moves it. */
export class PhoneClock implements RunClock {
  #nowMs = 0;
  readonly #alarms = new Set<Alarm>();

  after(ms: number, callback: () => void): () => void {
    const alarm = { dueMs: this.#nowMs + ms, callback };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const alarm of [...this.#alarms].sort((one, other) => one.dueMs - other.dueMs)) {
      if (alarm.dueMs > this.#nowMs) continue;
      this.#alarms.delete(alarm);
      alarm.callback();
    }
  }

  /** Waits for a timer of this length, and lets it end. */
  async pass(ms: number): Promise<void> {
    await until(`the phone waits ${ms} ms`, () =>
      [...this.#alarms].some(({ dueMs }) => dueMs === this.#nowMs + ms),
    );
    this.advance(ms);
  }
}
