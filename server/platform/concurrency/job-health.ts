import type { LoopHealth } from './loop.ts';

/**
 * States of a background job. `starting`: its first round has not ended. `failing`: its latest round failed. `late`: it
 * had no success for three intervals plus five minutes, for example because a round hangs.
 */
export const jobStates = ['starting', 'ok', 'failing', 'late'] as const;
export type JobState = (typeof jobStates)[number];

const intervalsMax = 3;
const slackMs = 300_000;

/** @param nowMs a reading of `performance.now()`, like the times in `health` */
export function jobState(health: LoopHealth, intervalMs: number, nowMs: number): JobState {
  const { startedAtMs, lastSuccessAtMs, lastError } = health;
  const sinceMs = lastSuccessAtMs ?? startedAtMs;
  if (sinceMs === undefined) return 'starting';
  if (nowMs - sinceMs > intervalsMax * intervalMs + slackMs) return 'late';
  if (lastError !== undefined) return 'failing';
  return lastSuccessAtMs === undefined ? 'starting' : 'ok';
}
