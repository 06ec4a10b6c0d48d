import { Worker } from 'node:worker_threads';

export interface VictimPlan {
  readonly port: number;
  readonly request: Uint8Array;
  readonly perSecond: number;
  readonly durationMs: number;
  readonly answerWithinMs: number;
}

export interface VictimSends {
  readonly latenciesMs: number[];
  readonly statuses: number[];
  unanswered: number;
}

export interface VictimFigures {
  readonly sends: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Sends that were answered 5xx or not at all. */
  readonly serverErrors: number;
  /** Sends that were refused, for example with 429. */
  readonly refusals: number;
}

const perSecond = 30;
const answerWithinMs = 20_000;

/** Sends 30 messages a second as the victim. @param onDue is called when the last send is due */
export async function runVictim(
  { port, request, durationMs }: Pick<VictimPlan, 'port' | 'request' | 'durationMs'>,
  signal: AbortSignal,
  onDue?: () => void,
): Promise<VictimFigures> {
  signal.throwIfAborted();
  const workerData: VictimPlan = { port, request, perSecond, durationMs, answerWithinMs };
  const worker = new Worker(new URL('./victim-worker.ts', import.meta.url), { workerData });
  const { promise, resolve, reject } = Promise.withResolvers<VictimSends>();
  worker.on('message', (message: VictimSends | 'due') => (message === 'due' ? onDue?.() : resolve(message)));
  worker.on('error', reject);
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return figuresOf(await promise);
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

function figuresOf({ latenciesMs, statuses, unanswered }: VictimSends): VictimFigures {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return {
    sends: sorted.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    serverErrors: statuses.filter((status) => status >= 500).length + unanswered,
    refusals: statuses.filter((status) => status >= 300 && status < 500).length,
  };
}
