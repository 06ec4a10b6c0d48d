import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Logger } from '#server/platform/process/logger.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { flushPath } from '../data-dir.ts';
import { EngineError } from './engine-error.ts';
import type { EngineParts } from './engine-files.ts';
import { changeTreeOwner, type EngineLayout, makeFolderPrivate } from './engine-folders.ts';
import type { EngineUser } from './engine-user.ts';
import { endProcessSync, findRunningPostmaster, runAtExit, shutDown } from './postmaster.ts';

const unfinishedPrefix = 'pg.new-';

/**
 * Creates the data folder if it is missing. The folder is built under another name, and renamed once it is complete and
 * flushed. So DATA_DIR/pg either does not exist or is complete.
 * @param flush false: files are not flushed to the disk, for tests that run without fsync
 * @param signal aborts the creation; an unfinished database is removed
 */
export async function prepareCluster(parts: EngineParts, flush: boolean, signal: AbortSignal): Promise<void> {
  const { layout, programs, user, logger } = parts;
  await removeUnfinished(layout, logger);
  const owner = await stat(layout.pgFolder).catch(() => undefined);
  if (owner === undefined) return createCluster(parts, flush, signal);
  await checkMajor(layout, programs.major);
  if (owner.uid !== user.uid) {
    const running = await findRunningPostmaster(layout.pgFolder);
    if (running !== undefined) await shutDown(running, logger);
    await changeTreeOwner(layout.pgFolder, user);
    logger.info({ user: user.name }, 'the files of the embedded database belong to another user now');
  }
}

async function createCluster(
  { layout, programs, user, logger }: EngineParts,
  flush: boolean,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const unfinished = await mkdtemp(join(layout.dataDir, unfinishedPrefix));
  await makeFolderPrivate(unfinished, user);
  const flags = [
    `--pgdata=${unfinished}`,
    '--username=postgres',
    // PostgreSQL trusts every local connection, because the socket folder's mode restricts access. It does not listen
    // on TCP.
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
    ...(flush ? [] : ['--no-sync']),
  ];
  const failure = await runInitdb(programs.initdb, flags, user, signal);
  if (failure !== undefined || signal.aborted) {
    await rm(unfinished, { recursive: true, force: true });
    signal.throwIfAborted();
    throw new EngineError(
      `The embedded database could not be created in DATA_DIR ${layout.dataDir}: ${failure}`,
    );
  }
  await rename(unfinished, layout.pgFolder);
  await flushPath(layout.dataDir);
  logger.info({ data_dir: layout.dataDir, user: user.name }, 'the embedded database was created');
}

/** Deletes the unfinished folders of killed starts. An initdb that still runs in such a folder fails. */
async function removeUnfinished(layout: EngineLayout, logger: Logger): Promise<void> {
  for (const name of await readdir(layout.dataDir)) {
    if (!name.startsWith(unfinishedPrefix)) continue;
    const folder = join(layout.dataDir, name);
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }).catch((error: Error) =>
      logger.warn({ err: error, folder }, 'deleting an unfinished database failed'),
    );
  }
}

async function checkMajor(layout: EngineLayout, major: string): Promise<void> {
  const found = await readFile(join(layout.pgFolder, 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    throw new EngineError(
      `${layout.pgFolder} is not a PostgreSQL data folder. Put the original folder back, or move this one away.`,
      error,
    );
  });
  if (found.trim() === major) return;
  throw new EngineError(
    `DATA_DIR ${layout.dataDir} holds data of PostgreSQL ${found.trim()}, and this release brings PostgreSQL ${major}. ` +
      `Start the former release again. To change over, make a backup there with \`${commandLine} backup FILE\`, and load it with ` +
      `this release into an empty DATA_DIR: \`${commandLine} restore FILE\`.`,
  );
}

/**
 * Runs initdb in a process group of its own. So a Ctrl-C on the terminal does not reach initdb, and a stop also ends
 * the PostgreSQL that initdb started.
 * @returns its error output; undefined if it succeeded
 */
async function runInitdb(
  program: string,
  flags: readonly string[],
  user: EngineUser,
  signal: AbortSignal,
): Promise<string | undefined> {
  const child = spawn(program, flags, {
    ...user.spawnAs,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) {
    const [error] = await once(child, 'error');
    return String(error);
  }
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const giveUp = () => void (isRunning() && process.kill(-pid, 'SIGTERM'));
  // While this process exits it can't see whether initdb has ended. So a second signal, after a time-out, ends initdb
  // for certain.
  const endGuard = runAtExit(() =>
    endProcessSync(-pid, isRunning, [
      { signal: 'SIGTERM', limitMs: 500 },
      { signal: 'SIGKILL', limitMs: 0 },
    ]),
  );
  signal.addEventListener('abort', giveUp);
  if (signal.aborted) giveUp();
  try {
    const [[code, endedBy], errors] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
    return code === 0 ? undefined : errors.trim() || `initdb ended with ${endedBy ?? code}.`;
  } finally {
    signal.removeEventListener('abort', giveUp);
    endGuard();
  }
}
