import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntilReady } from './engine-connection.ts';
import { EngineError } from './engine-error.ts';
import type { EngineParts } from './engine-files.ts';
import {
  findRunningPostmaster,
  lastLogLines,
  launchPostmaster,
  type Postmaster,
  rotateLog,
  runAtExit,
  shutDown,
  shutDownSync,
} from './postmaster.ts';
import { readPostmasterRecord, removeStalePidFiles, wasStartedWith } from './postmaster-files.ts';
import { hasSocket, restoreSocketFolder } from './socket-folder.ts';

interface SupervisorOptions {
  /** The arguments of PostgreSQL. */
  readonly words: readonly string[];
  readonly socketFolder: string;
  readonly logCheckIntervalMs: number;
}

const firstPauseMs = 200;
const pauseMaxMs = 5_000;
/** After PostgreSQL has run for this time it counts as steady, and the backoff between restarts begins anew. */
const steadyAfterMs = 60_000;
/** Attempts to start after a crash: remaining child processes of PostgreSQL need a moment to end. */
const startsAfterCrash = 7;

/**
 * Supervisor: keeps PostgreSQL running. Once `start` resolves, PostgreSQL accepts connections. When PostgreSQL dies, it
 * is started again, with a backoff from 0.2 to 5 seconds. After `stop` it stays stopped. If this process exits without
 * `stop`, PostgreSQL is stopped first; only a kill -9 leaves it running.
 */
export class Supervisor {
  readonly #parts: EngineParts;
  readonly #options: SupervisorOptions;
  readonly #stopping = new AbortController();
  #postmaster: Postmaster | undefined;
  #watching: Promise<void> = Promise.resolve();
  #endGuard: () => void = () => undefined;
  #logChecks: NodeJS.Timeout | undefined;
  #logRotation: Promise<void> | undefined;

  constructor(parts: EngineParts, options: SupervisorOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  get pid(): number {
    return this.#postmaster?.pid ?? 0;
  }

  /** @param signal aborts the start; `stop` must follow */
  async start(signal: AbortSignal): Promise<void> {
    const giveUp = () => this.#stopping.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', giveUp);
    this.#endGuard = runAtExit(() => {
      if (this.#postmaster) shutDownSync(this.#postmaster.pid, this.#parts.layout.pgFolder);
    });
    try {
      await this.#startFirst();
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    this.#watching = this.#watch();
    this.#logChecks = setInterval(() => this.#rotateLog(), this.#options.logCheckIntervalMs).unref();
  }

  async #startFirst(): Promise<void> {
    const crashed = (await readPostmasterRecord(this.#parts.layout.pgFolder)) !== undefined;
    let pauseMs = firstPauseMs;
    for (let startsLeft = crashed ? startsAfterCrash : 1; ; startsLeft -= 1) {
      try {
        await this.#obtain();
        return;
      } catch (error) {
        if (startsLeft === 1 || this.#stopping.signal.aborted) throw error;
        this.#parts.logger.warn({ err: error, pause_ms: pauseMs }, 'PostgreSQL did not start: trying again');
        await this.#pause(pauseMs);
        pauseMs = nextPauseMs(pauseMs);
      }
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#logChecks);
    if (this.#postmaster !== undefined) await shutDown(this.#postmaster, this.#parts.logger);
    await this.#watching;
    // The process is checked again, because a start in progress may have created it only now.
    if (this.#postmaster !== undefined) await shutDown(this.#postmaster, this.#parts.logger);
    this.#endGuard();
  }

  async #watch(): Promise<void> {
    const { logger } = this.#parts;
    const stopped = once(this.#stopping.signal, 'abort');
    let pauseMs = firstPauseMs;
    let startedAtMs = performance.now();
    while (!this.#stopping.signal.aborted) {
      const pid = this.pid;
      // The end of a PostgreSQL that was taken over is polled with a timer that keeps no process alive.
      await Promise.race([this.#postmaster?.ended, stopped]);
      if (this.#stopping.signal.aborted) return;
      if (performance.now() - startedAtMs > steadyAfterMs) pauseMs = firstPauseMs;
      logger.warn({ pid, pause_ms: pauseMs }, 'PostgreSQL has ended: starting it again');
      await this.#pause(pauseMs);
      pauseMs = nextPauseMs(pauseMs);
      if (this.#stopping.signal.aborted) return;
      try {
        await this.#obtain();
        startedAtMs = performance.now();
        logger.info({ pid: this.pid }, 'PostgreSQL runs again');
      } catch (error) {
        if (!this.#stopping.signal.aborted) logger.error({ err: error }, 'PostgreSQL did not start');
      }
    }
  }

  /** Takes over a running PostgreSQL if it has the same program and settings; otherwise starts one. */
  async #obtain(): Promise<void> {
    const { layout, programs, user, logger } = this.#parts;
    const { words, socketFolder } = this.#options;
    const { signal } = this.#stopping;
    const running = await findRunningPostmaster(layout.pgFolder);
    if (running !== undefined) {
      this.#postmaster = running;
      const isOurs = await wasStartedWith(layout.pgFolder, programs.postgres, words);
      if (!isOurs || !(await hasSocket(socketFolder))) {
        const reason = isOurs ? 'has lost its socket' : 'runs in another version or setting';
        logger.info({ pid: running.pid }, `PostgreSQL ${reason}: restarting it`);
        await shutDown(running, logger);
      } else if (await waitUntilReady(running, socketFolder, logger, signal)) {
        logger.info({ pid: running.pid }, 'took over the running PostgreSQL');
        return;
      }
    }
    await removeStalePidFiles(layout.pgFolder, socketFolder);
    await restoreSocketFolder(socketFolder, user);
    const started = await launchPostmaster(this.#parts, words, signal);
    this.#postmaster = started;
    if (await waitUntilReady(started, socketFolder, logger, signal)) return;
    throw new EngineError(
      `PostgreSQL ended while it started. The end of ${layout.logFile}:\n${await lastLogLines(layout.logFile)}`,
    );
  }

  /** Only one rotation at a time: a second one would overwrite the first one's copy with the truncated file. */
  #rotateLog(): void {
    this.#logRotation ??= rotateLog(this.#parts.layout.logFile)
      .catch((error: Error) =>
        this.#parts.logger.warn({ err: error }, 'moving the content of postgres.log failed'),
      )
      .finally(() => {
        this.#logRotation = undefined;
      });
  }

  /** Waits. The wait ends early, without an error, when `stop` is called. */
  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => undefined);
  }
}

function nextPauseMs(pauseMs: number): number {
  return Math.min(pauseMs * 2, pauseMaxMs);
}
