import { monotonicMs } from './ledger.ts';

/** Messages that phones received, with the times in milliseconds of the system's monotonic clock. */
export interface HandOuts {
  readonly kind: 'hand_outs';
  readonly ids: readonly string[];
  readonly atMs: readonly number[];
}

/** Milliseconds between two reports of hand-outs to the parent. */
const reportMs = 10;

let ids: string[] = [];
let atMs: number[] = [];

/** Reports a hand-out to the benchmark, which is the parent process. */
export function reportHandOut(id: string): void {
  if (ids.length === 0) setTimeout(report, reportMs);
  ids.push(id);
  atMs.push(monotonicMs());
}

function report(): void {
  const handOuts: HandOuts = { kind: 'hand_outs', ids, atMs };
  process.send?.(handOuts);
  ids = [];
  atMs = [];
}
