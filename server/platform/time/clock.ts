import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** The clocks of the machine; decision 0020 says how each is used. */
export interface HostClock {
  /**
   * The id of the machine's boot; undefined on macOS, which has no such id. Uptimes can be compared within one boot
   * only.
   */
  readonly bootId: string | undefined;
  /** Time since boot, including sleep; it can't be set. */
  uptimeMs(): number;
  /** Time since boot, without sleep; it can't be set. */
  monotonicMs(): number;
  /** The time of day of the host's clock, which can be set. */
  wallMs(): number;
}

export function createHostClock(): HostClock {
  return {
    bootId: readBootId(),
    uptimeMs: () => uptime() * 1_000,
    monotonicMs: () => Number(process.hrtime.bigint() / 1_000_000n),
    wallMs: () => Date.now(),
  };
}

function readBootId(): string | undefined {
  try {
    const text = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Node's longest timer. With a longer delay, Node fires the timer after a millisecond. */
const timerMaxMs = 2 ** 31 - 1;

/**
 * The clock of a process (specification section 10.7, decision 0020). It counts monotonic time and is
 * corrected by the database's clock. So all processes agree, and every clock step is noticed. SQL never calls now():
 * each statement gets the time from here. Tests move the clock.
 *
 * During a small correction back, timestamps stand still until the time has caught up. Only `jump` moves the time back.
 * `elapsedMs` measures durations; only elapsing time and tests change its result.
 *
 * The times of rows come from the one clock of the runtime. The semaphores of group commits and of password hashes only
 * wait, so each has a second clock. Nothing corrects it, and a test that moves the time ends none of their waits.
 */
export class Clock {
  #offsetMs = performance.timeOrigin;
  #movedMs = 0;
  #latestMs = 0;
  #followedMs = 0;
  /** How far ahead of the true time the clock may be, while expiry is suspended; otherwise undefined. */
  #doubtMs: number | undefined;
  readonly #alarms = new Set<() => void>();

  /** Milliseconds since 1970; only `jump` moves this time back. */
  nowMs(): number {
    const readMs = Math.floor(performance.now() + this.#offsetMs + this.#movedMs);
    this.#latestMs = Math.max(this.#latestMs, readMs);
    return this.#latestMs;
  }

  /** Monotonic milliseconds, for durations within this process, such as those of long polls, caches and time-outs. */
  elapsedMs(): number {
    return performance.now() + this.#movedMs;
  }

  now(): Date {
    return new Date(this.nowMs());
  }

  /** Computes the time `ms` after `start`, which is now by default. A negative number gives an earlier time. */
  in(ms: number, start = this.now()): Date {
    return new Date(start.getTime() + ms);
  }

  /** The clock's reading at a moment of `performance.now()`, without moves by tests; used to compare other clocks. */
  atMs(performanceMs: number): number {
    return performanceMs + this.#offsetMs;
  }

  /** The sum of the database's clock steps that this clock has followed (decision 0020). */
  get followedMs(): number {
    return this.#followedMs;
  }

  /**
   * Sets the time of a process that has just started, whatever its host's clock says.
   * @param followedMs the sum of the database's clock steps that the time already includes
   */
  start(timeMs: number, measuredAtMs: number, followedMs: number): void {
    this.#latestMs = Math.min(this.#latestMs, Math.floor(timeMs + this.#movedMs));
    this.follow(timeMs, measuredAtMs);
    this.#followedMs = followedMs;
  }

  /** Corrects the time. @param timeMs the correct time at the reading `measuredAtMs` of `performance.now()` */
  follow(timeMs: number, measuredAtMs: number): void {
    this.#offsetMs = timeMs - measuredAtMs;
  }

  /**
   * Moves the time by a step, ahead or back. @param followedMs the part of `byMs` that is a step of the database's
   * clock
   */
  jump(byMs: number, followedMs = byMs): void {
    this.#offsetMs += byMs;
    if (byMs < 0) this.#latestMs = Math.max(0, this.#latestMs + byMs);
    this.#followedMs += followedMs;
  }

  /** True if the time is certain enough to expire, delete or drop rows. */
  get mayExpire(): boolean {
    return this.#doubtMs === undefined;
  }

  /** The time for expiry checks. While the clock may be too far ahead, the result is the latest certain time. */
  expiryNow(): Date {
    return new Date(this.nowMs() - (this.#doubtMs ?? 0));
  }

  /** Suspends expiry. @param doubtMs by how much the time may be too far ahead */
  suspendExpiry(doubtMs = 0): void {
    this.#doubtMs = doubtMs;
  }

  allowExpiry(): void {
    this.#doubtMs = undefined;
  }

  /** Calls back once `ms` have passed. @returns a function that cancels the call */
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

  /** For tests: moves the clock ahead, which fires the alarms that are due. */
  advance(ms: number): void {
    this.#movedMs += ms;
    for (const check of [...this.#alarms]) check();
  }
}

/**
 * Lets the test that spawned this process move its clock, over the IPC channel. Without a channel, as in every ordinary
 * start, this function does nothing.
 */
export function followTestClock(clock: Clock): void {
  if (!process.channel) return;
  process.on('message', (message) => {
    if (typeof message !== 'object' || message === null || !('advanceMs' in message)) return;
    if (typeof message.advanceMs !== 'number') return;
    clock.advance(message.advanceMs);
    process.send?.({ advancedMs: message.advanceMs });
  });
  // The IPC channel must not keep a finished process alive.
  process.channel.unref();
}
