import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEngine } from '#server/database/engine/engine.ts';
import { migrate } from '#server/database/migrate.ts';
import { createLogger } from '#server/platform/logger.ts';

/**
 * `npm test`, or `npm test -- test/api/send.test.ts`: one PostgreSQL for the whole run, from which every test file
 * clones a database of its own. It commits without fsync; tests of what survives a crash start engines of their own.
 */
const files = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const options = process.argv.slice(2).filter((word) => word.startsWith('-'));
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
  process.exitCode = await runTests(engine.databaseUrl);
} finally {
  await engine.stop();
  await rm(dataDir, { recursive: true, force: true });
}

function runTests(engineUrl: string): Promise<number> {
  const found = files.length > 0 ? files : globSync('test/**/*.test.ts').sort();
  const args = ['--test', '--test-concurrency=2', '--test-timeout=240000', ...options, ...found];
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, TEST_ENGINE_URL: engineUrl },
  });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}
