import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { copyFile, readFile, rm, stat, truncate } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCodeOf } from '#server/platform/error-code.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { EngineError } from './engine-error.ts';
import type { EngineParts } from './engine-files.ts';
import { isPostmasterOf, readPostmasterRecord } from './postmaster-files.ts';

/** The main process of a running PostgreSQL. */
export interface Postmaster {
  readonly pid: number;
  /** Resolves once the process has ended. */
  readonly ended: Promise<void>;
  isRunning(): Promise<boolean>;
}

const livenessIntervalMs = 1_000;
const fastShutdownMs = 10_000;
const immediateShutdownMs = 10_000;

/**
 * Starts PostgreSQL in its own session: a Ctrl-C on the terminal does not reach it, and it outlives this process. It
 * also gets its own environment, because variables such as PGPORT would change its behaviour.
 * @param words the arguments of PostgreSQL
 * @param signal once it is aborted, nothing is started
 */
export async function launchPostmaster(
  { programs, layout, user }: EngineParts,
  words: readonly string[],
  signal: AbortSignal,
): Promise<Postmaster> {
  await rotateLog(layout.logFile);
  signal.throwIfAborted();
  const log = openSync(layout.logFile, 'a', 0o600);
  const child = spawn(programs.postgres, words, {
    ...user.spawnAs,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const { pid } = child;
  if (pid === undefined) {
    const [error] = await once(child, 'error');
    throw new EngineError(`PostgreSQL could not be started from ${programs.postgres}.`, error);
  }
  const ended = once(child, 'exit').then(() => undefined);
  child.unref();
  // No `await` may stand between the spawn and this line, so that the exit guard knows the new process.
  return { pid, ended, isRunning: async () => child.exitCode === null && child.signalCode === null };
}

/** Finds the PostgreSQL of a data folder that an earlier, killed process started. */
export async function findRunningPostmaster(pgFolder: string): Promise<Postmaster | undefined> {
  const record = await readPostmasterRecord(pgFolder);
  if (record === undefined || !isPostmasterOf(record.pid, pgFolder)) return undefined;
  const isRunning = async () => isPostmasterOf(record.pid, pgFolder);
  let ended: Promise<void> | undefined;
  return {
    pid: record.pid,
    get ended() {
      ended ??= waitForEnd(isRunning);
      return ended;
    },
    isRunning,
  };
}

/** Polls each second: PostgreSQL is not our child process, so no event reports its end. */
async function waitForEnd(isRunning: () => Promise<boolean>): Promise<void> {
  while (await isRunning()) await pause(livenessIntervalMs, undefined, { ref: false });
}

/**
 * Shuts PostgreSQL down with all data written. If that takes too long, PostgreSQL is ended at once, and recovers at its
 * next start.
 */
export async function shutDown(postmaster: Postmaster, logger: Logger): Promise<void> {
  if (await endsAfter(postmaster, 'SIGINT', fastShutdownMs)) return;
  logger.warn({ pid: postmaster.pid }, 'PostgreSQL takes too long to stop: ending it at once');
  if (await endsAfter(postmaster, 'SIGQUIT', immediateShutdownMs)) return;
  throw new EngineError(
    `PostgreSQL (process ${postmaster.pid}) does not stop. End this process yourself, then start Ownline again.`,
  );
}

/** The synchronous form of `shutDown`, for use while this process exits. It returns once PostgreSQL has ended. */
export function shutDownSync(pid: number, pgFolder: string): void {
  endProcessSync(pid, () => isPostmasterOf(pid, pgFolder), [
    { signal: 'SIGINT', limitMs: fastShutdownMs / 2 },
    { signal: 'SIGQUIT', limitMs: immediateShutdownMs / 2 },
  ]);
}

async function endsAfter(postmaster: Postmaster, signal: NodeJS.Signals, limitMs: number): Promise<boolean> {
  if (!(await postmaster.isRunning())) return true;
  try {
    process.kill(postmaster.pid, signal);
  } catch (error) {
    if (errorCodeOf(error) !== 'ESRCH') throw error;
  }
  const deadlineMs = performance.now() + limitMs;
  while (await postmaster.isRunning()) {
    if (performance.now() > deadlineMs) return false;
    await pause(20);
  }
  return true;
}

const logMaxBytes = 10 * 1024 * 1024;

/**
 * Moves the content of a log that is too long to `postgres.log.1`, replacing the earlier one. PostgreSQL keeps the file
 * open, so the file is copied and truncated, not renamed.
 */
export async function rotateLog(logFile: string): Promise<void> {
  const size = await stat(logFile).then(
    (found) => found.size,
    () => 0,
  );
  if (size <= logMaxBytes) return;
  const older = `${logFile}.1`;
  await rm(older, { force: true });
  await copyFile(logFile, older);
  await truncate(logFile);
}

/** The last lines of PostgreSQL's log, for an error message. The log has neither statements nor their values. */
export async function lastLogLines(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-8).join('\n');
}

const guards = new Set<() => void>();

/**
 * Runs a function when this process exits by process.exit or an uncaught exception. It must be synchronous, because the
 * event loop has stopped by then.
 * @returns a function that unregisters it
 */
export function runAtExit(guard: () => void): () => void {
  if (guards.size === 0 && !process.listeners('exit').includes(runGuards)) process.on('exit', runGuards);
  guards.add(guard);
  return () => void guards.delete(guard);
}

function runGuards(): void {
  for (const guard of guards) guard();
}

interface Ending {
  readonly signal: NodeJS.Signals;
  readonly limitMs: number;
}

/**
 * Sends the signals one after another until the process has ended. The event loop is blocked until then.
 * @param target a process id, or a negative one for a process group
 */
export function endProcessSync(target: number, isRunning: () => boolean, endings: readonly Ending[]): void {
  for (const { signal, limitMs } of endings) {
    if (!isRunning()) return;
    try {
      process.kill(target, signal);
    } catch {
      return;
    }
    const deadlineMs = performance.now() + limitMs;
    while (isRunning() && performance.now() < deadlineMs) blockFor(10);
  }
}

const never = new Int32Array(new SharedArrayBuffer(4));

function blockFor(ms: number): void {
  Atomics.wait(never, 0, 0, ms);
}
