import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { BackupError } from '#server/backups/archive/backup-error.ts';
import type { BackupRun } from '#server/backups/archive/backups-store.ts';
import type { ScratchServer } from '#server/backups/archive/check-backup.ts';
import { messageOf } from '#server/platform/error-code.ts';

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

/**
 * The outcome of a backup in the form in which it is stored, with the stack of an unexpected error. `other_runs`: no
 * backup was made, because another one runs.
 */
export type BackupOutcome =
  | (Omit<BackupRun, 'started_at' | 'finished_at'> & { readonly stack?: string })
  | 'other_runs';

export function failedBackup(error: unknown): BackupOutcome {
  const isExpected = error instanceof BackupError || !(error instanceof Error);
  return {
    ...{ file: null, bytes: null, error: messageOf(error), unproved: null },
    ...(isExpected || error.stack === undefined ? {} : { stack: error.stack }),
  };
}

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
  const worker = new Worker(new URL(import.meta.resolve('#server/backups/backup-worker.ts')), {
    workerData: order,
  });
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
