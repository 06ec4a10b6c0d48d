import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** The clocks of the machine. Decision 0020 defines the use of each. */
export interface HostClock {
  /**
   * Names the machine's boot; undefined on systems without such an id, as on macOS. Uptimes
   * compare within one boot only.
   */
  readonly bootId: string | undefined;
  /** Time since the boot, including the time that the machine slept. It is never set. */
  uptimeMs(): number;
  /** Time since the boot, without sleep. It is never set. */
  monotonicMs(): number;
  /** The time of day, as the host's clock is set. */
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
