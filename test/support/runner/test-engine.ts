import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applySchema } from '#server/database/apply-schema.ts';
import { startEngine } from '#server/database/engine/engine.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { dropTableComments } from '#test/support/database/drop-table-comments.ts';
import { findMemoryFolder } from './memory-folder.ts';
import { borrowServer } from './own-server.ts';

const parameters = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Names the statement of a backend that crashes; all data of tests are fictional.
  log_error_verbosity: 'default',
};

export interface TestEngine {
  readonly url: string;
  /** Lines of PostgreSQL's log about its processes that crashed, with the statement that each one ran. */
  readonly crashes: () => Promise<readonly string[]>;
}

/** Signals that end a run early: Ctrl-C, a time-out of the CI, a closed terminal. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Starts one PostgreSQL for a whole run, from whose database `ownline` every test file clones one. It commits without
 * fsync and writes a minimal log. Tests of crashes and power loss start their own engines. PostgreSQL outlives the
 * process that started it. A signal therefore aborts `ending` instead of ending this process, and `run` has to end then.
 * @param storage of the databases: memory if the machine has enough (memory-folder.ts), disk for tests of large tables
 * @param postgres URL of a running PostgreSQL that is used instead, for a role that may create roles and databases
 */
export async function withTestEngine<T>(
  run: (engine: TestEngine, ending: AbortSignal) => Promise<T>,
  storage: 'memory' | 'disk' = 'memory',
  postgres?: string,
): Promise<T> {
  const controller = new AbortController();
  const onSignal = () => controller.abort();
  for (const signal of endings) process.on(signal, onSignal);
  const server = await (postgres === undefined ? startServer(storage) : borrowServer(postgres));
  try {
    await applySchema(server.url);
    await dropTableComments(server.url);
    return await run(server, controller.signal);
  } finally {
    await server.close();
    for (const signal of endings) process.off(signal, onSignal);
  }
}

async function startServer(storage: 'memory' | 'disk') {
  const parent = (storage === 'memory' ? await findMemoryFolder() : undefined) ?? tmpdir();
  const dataDir = await mkdtemp(join(parent, 'ownline-test-'));
  const engine = await startEngine({ dataDir, logger: createLogger('warn'), createdb: true, parameters });
  return {
    url: engine.databaseUrl,
    crashes: () => readCrashes(join(dataDir, 'postgres.log')),
    close: async () => {
      await engine.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Makes the empty cluster of an embedded database, which tests of separate processes copy instead of making their own.
 * @returns its folder, and the function that deletes it
 */
export async function makeTestCluster(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ownline-cluster-'));
  await (await startEngine({ dataDir, logger: createLogger('warn'), parameters: { fsync: 'off' } })).stop();
  return { folder: join(dataDir, 'pg'), remove: () => rm(dataDir, { recursive: true, force: true }) };
}

async function readCrashes(logFile: string): Promise<string[]> {
  const log = await readFile(logFile, 'utf8').catch(() => '');
  return log.match(/^.* was terminated by signal .*(?:\n.*DETAIL: .*)?$/gm) ?? [];
}
