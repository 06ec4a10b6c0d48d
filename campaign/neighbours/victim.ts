import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Request } from '../http.ts';

export interface VictimPlan {
  readonly port: number;
  readonly request: Request;
  readonly durationMs: number;
}

export interface VictimSend {
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  readonly latencyMs: number;
}

export type VictimFigures = ReturnType<typeof figuresOf>;

/** Sends 30 messages a second as the victim. @param onDue is called when the last send is due */
export async function runVictim(
  plan: VictimPlan,
  signal: AbortSignal,
  onDue?: () => void,
): Promise<VictimFigures> {
  signal.throwIfAborted();
  const worker = new Worker(new URL('./victim-worker.ts', import.meta.url), { workerData: plan });
  try {
    for await (const [message] of on(worker, 'message', { signal })) {
      if (message !== 'due') return figuresOf(message);
      onDue?.();
    }
    throw new Error('The victim ended without its figures.');
  } finally {
    await worker.terminate();
  }
}

function figuresOf(sends: readonly VictimSend[]) {
  const sorted = sends.map(({ latencyMs }) => latencyMs).toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  const count = (is: (status: number) => boolean) => sends.filter(({ status }) => is(status)).length;
  return {
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    /** Sends that were answered 5xx or not at all. */
    serverErrors: count((status) => status === 0 || status >= 500),
    /** Sends that were refused, for example with 429. */
    refusals: count((status) => status >= 300 && status < 500),
  };
}
