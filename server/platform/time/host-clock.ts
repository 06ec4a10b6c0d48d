import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** The clocks of the machine. Decision 0020 says what each is believed. */
export interface HostClock {
  /** Names the machine's boot; undefined where it can't be told, as on macOS. Uptimes compare within one boot only. */
  readonly bootId: string | undefined;
  /** Since the boot, the time included that the machine slept. Nobody sets it. */
  uptimeMs(): number;
  /** Since the boot, without sleep. Nobody sets it. */
  monotonicMs(): number;
  /** The time of day, as somebody set it. */
  wallMs(): number;
}

export function readHostClock(): HostClock {
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
