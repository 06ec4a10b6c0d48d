/** The time that a share of sorted times does not exceed: 0.5 for p50. */
export function atShare(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}

/** Prints p50, p99 and the maximum of times in milliseconds, with the goal of p99. */
export function printLatency(name: string, timesMs: readonly number[], goalMs: number): void {
  const sorted = timesMs.toSorted((left, right) => left - right);
  const at = (share: number) => atShare(sorted, share).toFixed(0);
  process.stdout.write(
    `${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (goal ≤ ${goalMs} ms), last ${at(1)} ms\n`,
  );
}
