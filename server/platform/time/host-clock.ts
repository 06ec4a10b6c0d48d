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
