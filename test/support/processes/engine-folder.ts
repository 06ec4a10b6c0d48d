import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { type Engine, startEngine } from '#server/database/engine/engine.ts';
import { commandLineOf } from '#server/database/engine/postmaster-files.ts';

const run = promisify(execFile);
export const isRoot = process.getuid?.() === 0;
const engineOwner = fileURLToPath(import.meta.resolve('#test/support/runner/engine-owner.ts'));

let usedFolder: Promise<string> | undefined;

/** Makes a DATA_DIR with a database, once per process, and deletes it when the process ends. @returns its path */
function templateFolder(): Promise<string> {
  usedFolder ??= createTemplate();
  return usedFolder;
}

async function createTemplate(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'engine-test-'));
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  await chmod(root, 0o755);
  const dataDir = join(root, 'data');
  const engine = await startEngine({ dataDir, logger: pino({ level: 'silent' }) });
  await engine.stop();
  return dataDir;
}

/** A new DATA_DIR for one test, deleted after it with the engines that still run in it. */
export class Place {
  readonly logLines: string[] = [];
  readonly dataDir: string;
  readonly #root: string;
  readonly #engines: Engine[] = [];
  readonly #children: ChildProcess[] = [];

  private constructor(root: string, dataDir: string) {
    this.#root = root;
    this.dataDir = dataDir;
  }

  static async make(t: TestContext, below = 'data'): Promise<Place> {
    const root = await mkdtemp(join(tmpdir(), 'engine-test-'));
    await chmod(root, 0o755);
    const place = new Place(root, join(root, below));
    t.after(() => place.#remove());
    return place;
  }

  /** Makes a DATA_DIR with a database that an earlier start created, which is faster than `make`. */
  static async makeUsed(t: TestContext, below = 'data'): Promise<Place> {
    const place = await Place.make(t, below);
    await mkdir(place.dataDir, { recursive: true });
    const template = await templateFolder();
    // Hard links are safe, as PostgreSQL's programs are never written to.
    await run('cp', ['-al', join(template, 'engine'), place.dataDir]);
    await run('cp', ['-a', join(template, 'pg'), place.dataDir]);
    return place;
  }

  async start(
    parameters: Record<string, string> = {},
    options: { readonly logCheckIntervalMs?: number } = {},
  ): Promise<Engine> {
    const logger = pino({ base: null }, { write: (line: string) => void this.logLines.push(line) });
    const engine = await startEngine({ dataDir: this.dataDir, logger, parameters, ...options });
    this.#engines.push(engine);
    return engine;
  }

  /** Starts another process that owns the engine. */
  spawnOwner(as: { uid?: number; gid?: number } = {}): ChildProcess {
    const child = spawn(process.execPath, [engineOwner, this.dataDir], {
      ...as,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#children.push(child);
    return child;
  }

  async #remove(): Promise<void> {
    for (const child of this.#children) await kill9(child);
    for (const engine of this.#engines) await engine.stop();
    const record = await readFile(join(this.dataDir, 'socket-folder'), 'utf8').catch(() => '');
    if (record.startsWith(join(tmpdir(), 'ownline-')))
      await rm(record.trim(), { recursive: true, force: true });
    await rm(this.#root, { recursive: true, force: true, maxRetries: 10 });
  }
}

export async function kill9(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

export async function firstLine(
  child: ChildProcess,
): Promise<{ databaseUrl: string; postmasterPid: number }> {
  assert.ok(child.stdout);
  for await (const line of createInterface(child.stdout)) return JSON.parse(line);
  throw new Error('The process ended before its engine ran.');
}

export async function query(databaseUrl: string, sql: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query({ text: sql, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

/** Resolves once a process has ended. A zombie has ended, too, although its pid still exists. */
export async function hasEnded(pid: number): Promise<void> {
  assert.equal(commandLineOf(pid), undefined);
}

export const keepARow = "CREATE TABLE kept AS SELECT 'a row' AS value";
export const readTheRow = 'SELECT value FROM kept';
