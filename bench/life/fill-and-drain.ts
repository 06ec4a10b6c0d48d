import { setTimeout as pause } from 'node:timers/promises';
import type { Installation } from './installation.ts';
import { monotonicMs } from './ledger.ts';

/** Milliseconds within which the service notices that all phones have disconnected. */
const leftMs = 1_000;

/** Sends messages while the phones are off, and then hands them out. */
export async function fillAndDrain(
  { senders, ledger, fleet, untilSettled }: Installation,
  messages: number,
): Promise<{ readonly filledPerSecond: number; readonly drainedPerSecond: number }> {
  fleet.switchOff();
  await pause(leftMs);
  const startedMs = monotonicMs();
  await senders.burst(messages);
  const filledMs = monotonicMs() - startedMs;
  fleet.switchOn();
  await untilSettled();
  const drainedMs = Math.max(...ledger.arrivalsMs(startedMs)) - filledMs;
  return {
    filledPerSecond: (messages * 1_000) / filledMs,
    drainedPerSecond: (messages * 1_000) / drainedMs,
  };
}
