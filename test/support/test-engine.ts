import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEngine } from '#server/database/engine/engine.ts';
import { migrate } from '#server/database/migrate.ts';
import { createLogger } from '#server/platform/logger.ts';

/** What ends a run before its time: a Ctrl-C, an impatient CI, a terminal that was closed. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * One PostgreSQL for a whole run, from which every test file clones a database of its own. It commits without fsync;
 * tests of what survives a crash start engines of their own.
 *
 * PostgreSQL outlives the process that started it. A signal therefore does not end this one: it fires `ending`, and
 * what `run` does has to end by that.
 */
export async function withTestEngine<T>(
  run: (engineUrl: string, ending: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const onSignal = () => controller.abort();
  for (const signal of endings) process.on(signal, onSignal);
  const dataDir = await mkdtemp(join(tmpdir(), 'ownline-test-'));
  const logger = createLogger('warn');
  const engine = await startEngine({ dataDir, logger, createdb: true, parameters: { fsync: 'off' } });
  try {
    await migrate(engine.databaseUrl);
    const client = new pg.Client({ connectionString: engine.databaseUrl.replace('/ownline?', '/postgres?') });
    await client.connect();
    // A template has no connections of its own; the database that the engine made is one from here on.
    await client.query('CREATE DATABASE template_ownline TEMPLATE ownline');
    await client.end();
    return await run(engine.databaseUrl, controller.signal);
  } finally {
    await engine.stop();
    await rm(dataDir, { recursive: true, force: true });
    for (const signal of endings) process.off(signal, onSignal);
  }
}

interface TestRun {
  readonly files: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  /** For node. */
  readonly options?: readonly string[];
  readonly ending: AbortSignal;
}

/** Runs test files under `node --test`. @returns its exit code, 1 where it was ended */
export async function runTests({ files, settings, options = [], ending }: TestRun): Promise<number> {
  if (ending.aborted) return 1;
  // On two cores a third file works while the others wait for an event: 7:22 instead of 8:07.
  const args = ['--test', '--test-concurrency=3', '--test-timeout=240000', ...options, ...files];
  // A process group of its own, so that all that its tests have started can be ended with it.
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, ...settings },
    detached: true,
  });
  const onEnding = () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  };
  ending.addEventListener('abort', onEnding);
  try {
    return await new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
  } finally {
    ending.removeEventListener('abort', onEnding);
  }
}
