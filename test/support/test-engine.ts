import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEngine } from '#server/database/engine/engine.ts';
import { migrate } from '#server/database/migrate.ts';
import { createLogger } from '#server/platform/logger.ts';

/**
 * One PostgreSQL for a whole run, from which every test file clones a database of its own. It commits without fsync;
 * tests of what survives a crash start engines of their own.
 */
export async function withTestEngine<T>(run: (engineUrl: string) => Promise<T>): Promise<T> {
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
    return await run(engine.databaseUrl);
  } finally {
    await engine.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Runs test files under `node --test`. @returns its exit code */
export function runTests(
  files: readonly string[],
  settings: Readonly<Record<string, string>>,
  options: readonly string[] = [],
): Promise<number> {
  const args = ['--test', '--test-concurrency=2', '--test-timeout=240000', ...options, ...files];
  const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...settings } });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}
