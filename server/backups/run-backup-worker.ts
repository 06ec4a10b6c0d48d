import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ScratchServer } from '#server/backups/archive/check-backup.ts';

/** The parameters of one backup: plain values, because they are sent to another thread. */
export interface BackupOrder {
  readonly databaseUrl: string;
  readonly dataDir: string;
  /** Base64. */
  readonly secretsKey: string;
  readonly passphraseFile: string | undefined;
  /** Added to `steadyNowMs()`, it gives the service's time. */
  readonly serviceOffsetMs: number;
  readonly folder: string;
  readonly name: string;
  readonly scratch: ScratchServer;
}

export type BackupOutcome =
  | { readonly kind: 'done'; readonly file: string; readonly bytes: number; readonly unproved: string | null }
  | { readonly kind: 'failed'; readonly error: string; readonly stack: string | undefined }
  | { readonly kind: 'other_runs' };

/** Milliseconds since 1970, unaffected by steps of the system's clock. All threads of a process get the same time. */
export function steadyNowMs(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Writes a backup in a separate thread, because copying and checking rows would delay requests on the main thread.
 * @param signal ends the thread, its connection and its file
 */
export async function runBackupWorker(
  order: BackupOrder,
  signal: AbortSignal,
): Promise<BackupOutcome | undefined> {
  const worker = new Worker(new URL('./backup-worker.ts', import.meta.url), { workerData: order });
  const stop = () => void worker.terminate();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    const exited = once(worker, 'exit').then(() => undefined);
    const message = once(worker, 'message').then(([outcome]) => outcome as BackupOutcome);
    message.catch(() => undefined);
    return await Promise.race([message, exited]);
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
