import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { type Engine, startEngine } from '#server/database/engine/engine.ts';
import { checkGlibc } from '#server/database/engine/engine-files.ts';
import { commandLineOf } from '#server/database/engine/engine-process.ts';
import { findEngineUrl } from '#server/database/engine/engine-url.ts';
import { until } from '#test/support/until.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const engineOwner = fileURLToPath(import.meta.resolve('#test/support/engine-owner.ts'));
const ordinaryId = 65_534;
/** Not where the checkout lies below a closed home. */
const ordinaryUserReaches = (program: string) =>
  spawnSync(program, ['--version'], { uid: ordinaryId, gid: ordinaryId }).error === undefined;
const templateRoot = await mkdtemp(join(tmpdir(), 'engine-test-'));
const template = join(templateRoot, 'data');

before(async () => {
  await chmod(templateRoot, 0o755);
  const engine = await startEngine({ dataDir: template, logger: pino({ level: 'silent' }) });
  await engine.stop();
});

after(() => rm(templateRoot, { recursive: true, force: true }));

/** A DATA_DIR of its own for one test, deleted after it with the engines that still run in it. */
class Place {
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

  /** As `make`, with a database that an earlier start created: quicker. */
  static async makeUsed(t: TestContext, below = 'data'): Promise<Place> {
    const place = await Place.make(t, below);
    await mkdir(place.dataDir, { recursive: true });
    // PostgreSQL's programs are never written to: links do.
    await run('cp', ['-al', join(template, 'engine'), place.dataDir]);
    await run('cp', ['-a', join(template, 'pg'), place.dataDir]);
    return place;
  }

  async start(parameters: Record<string, string> = {}): Promise<Engine> {
    const logger = pino({ base: null }, { write: (line: string) => void this.logLines.push(line) });
    const engine = await startEngine({ dataDir: this.dataDir, logger, parameters });
    this.#engines.push(engine);
    return engine;
  }

  /** Another process that owns the engine. */
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

async function kill9(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function firstLine(child: ChildProcess): Promise<{ databaseUrl: string; postmasterPid: number }> {
  assert.ok(child.stdout);
  for await (const line of createInterface(child.stdout)) return JSON.parse(line);
  throw new Error('The process ended before its engine ran.');
}

async function query(databaseUrl: string, sql: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query({ text: sql, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

/** What waits to be reaped has ended too, so no look at the pid alone. */
async function hasEnded(pid: number): Promise<void> {
  assert.equal(await commandLineOf(pid), undefined);
}

const keepARow = "CREATE TABLE kept AS SELECT 'a row' AS value";
const readTheRow = 'SELECT value FROM kept';

async function modeOf(path: string): Promise<string> {
  return ((await lstat(path)).mode & 0o777).toString(8);
}

test('the application connects as ownline, which owns its database and is no superuser (section 10)', async (t) => {
  const place = await Place.make(t);
  const engine = await place.start();
  assert.deepEqual(
    await query(
      engine.databaseUrl,
      `SELECT rolname, rolsuper, rolcreatedb, rolcreaterole, pg_get_userbyid(datdba), pg_encoding_to_char(encoding), datlocale
         FROM pg_roles JOIN pg_database ON datname = current_database() WHERE rolname = current_user`,
    ),
    [['ownline', false, false, false, 'ownline', 'UTF8', 'C.UTF-8']],
  );
  assert.deepEqual(await query(engine.databaseUrl, 'SHOW listen_addresses'), [['']]);
  assert.deepEqual(await query(engine.databaseUrl, 'SHOW fsync'), [['on']]);
  assert.equal(await findEngineUrl(place.dataDir), engine.databaseUrl);
});

test('the socket, the data and the programs are closed to other users, and PostgreSQL is never root (section 10)', async (t) => {
  const place = await Place.make(t);
  const engine = await place.start();
  const socketFolder = (await readFile(join(place.dataDir, 'socket-folder'), 'utf8')).trim();
  assert.equal(await modeOf(place.dataDir), isRoot ? '711' : '700');
  for (const folder of [join(place.dataDir, 'pg'), join(place.dataDir, 'engine'), socketFolder]) {
    assert.equal(await modeOf(folder), '700', folder);
    assert.equal((await stat(folder)).uid === 0, false, folder);
  }
  assert.equal(await modeOf(join(socketFolder, '.s.PGSQL.5432')), '700');
  assert.equal(await modeOf(join(place.dataDir, 'postgres.log')), '600');
  assert.deepEqual(await query(engine.databaseUrl, 'SELECT 1 + 1'), [[2]]);
});

test('the libraries have their links although npm ran no scripts (section 10)', async (t) => {
  const place = await Place.make(t);
  await place.start();
  const [version = ''] = await readdir(join(place.dataDir, 'engine'));
  assert.match(
    await readlink(join(place.dataDir, 'engine', version, 'lib', 'libpq.so.5')),
    /^libpq\.so\.5\.\d+$/,
  );
});

test('a second start on the same DATA_DIR says who owns it and how to attach (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const engine = await place.start();
  await assert.rejects(place.start(), (error: Error) => {
    assert.equal(error.name, 'EngineError');
    assert.ok(error.message.includes(place.dataDir));
    assert.ok(error.message.includes(`process ${process.pid}`));
    assert.ok(error.message.includes('DATABASE_URL=$(npm run -s ownline -- database-url)'));
    return true;
  });
  assert.deepEqual(await query(engine.databaseUrl, 'SELECT 1'), [[1]], 'the first one goes on');
});

test('of ten starts at once on one DATA_DIR one succeeds (section 10)', async (t) => {
  const place = await Place.make(t);
  const starts = await Promise.allSettled(Array.from({ length: 10 }, () => place.start()));
  assert.equal(starts.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('after stop nothing runs, and the next start finds the data (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const first = await place.start();
  await query(first.databaseUrl, keepARow);
  await Promise.all([first.stop(), first.stop()]);
  await hasEnded(first.postmasterPid());
  await assert.rejects(findEngineUrl(place.dataDir), /npm start/);
  const second = await place.start();
  assert.equal(second.databaseUrl, first.databaseUrl);
  assert.deepEqual(await query(second.databaseUrl, readTheRow), [['a row']]);
});

test('after kill -9 of its process the running PostgreSQL is taken over, with its connections (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const owner = place.spawnOwner();
  const before = await firstLine(owner);
  const attached = new pg.Client({ connectionString: before.databaseUrl });
  await attached.connect();
  await attached.query(keepARow);
  await kill9(owner);
  const engine = await place.start();
  assert.equal(engine.postmasterPid(), before.postmasterPid);
  assert.equal(engine.databaseUrl, before.databaseUrl);
  assert.deepEqual((await attached.query({ text: readTheRow, rowMode: 'array' })).rows, [['a row']]);
  await attached.end();
});

test('one that was taken over is restarted when it dies, and stops with its new process (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const owner = place.spawnOwner();
  const before = await firstLine(owner);
  await query(before.databaseUrl, keepARow);
  await kill9(owner);
  const engine = await place.start();
  process.kill(before.postmasterPid, 'SIGKILL');
  await until('another postmaster', () => engine.postmasterPid() !== before.postmasterPid);
  const rows = await until('an answer', () => query(engine.databaseUrl, readTheRow).catch(() => undefined));
  assert.deepEqual(rows, [['a row']]);
  await engine.stop();
  await hasEnded(engine.postmasterPid());
});

test('a running PostgreSQL with another command line, as of another version, is replaced with its data kept (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const owner = place.spawnOwner();
  const before = await firstLine(owner);
  await query(before.databaseUrl, keepARow);
  await kill9(owner);
  const engine = await place.start({ work_mem: '5MB' });
  assert.notEqual(engine.postmasterPid(), before.postmasterPid);
  await hasEnded(before.postmasterPid);
  assert.deepEqual(await query(engine.databaseUrl, readTheRow), [['a row']]);
  assert.deepEqual(await query(engine.databaseUrl, 'SHOW work_mem'), [['5MB']]);
});

test('PostgreSQL killed under the service is restarted with its data, and the log says so (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const engine = await place.start();
  await query(engine.databaseUrl, keepARow);
  for (let kills = 0; kills < 3; kills += 1) {
    const pid = engine.postmasterPid();
    process.kill(pid, 'SIGKILL');
    await until('another postmaster', () => engine.postmasterPid() !== pid);
    await until('an answer', () => query(engine.databaseUrl, readTheRow).catch(() => undefined));
  }
  assert.deepEqual(await query(engine.databaseUrl, readTheRow), [['a row']]);
  assert.ok(place.logLines.some((line) => line.includes('PostgreSQL has ended: starting it again')));
});

test('a stop while PostgreSQL is being restarted leaves nothing running and a database that starts (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const engine = await place.start();
  process.kill(engine.postmasterPid(), 'SIGKILL');
  await until('the warning', () => place.logLines.some((line) => line.includes('PostgreSQL has ended')));
  await engine.stop();
  await hasEnded(engine.postmasterPid());
  await assert.rejects(findEngineUrl(place.dataDir), /npm start/);
  const next = await place.start();
  assert.deepEqual(await query(next.databaseUrl, 'SELECT 1'), [[1]]);
});

test('pid files that name a living stranger do not keep PostgreSQL from starting (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const first = await place.start();
  await first.stop();
  const pgFolder = join(place.dataDir, 'pg');
  const owner = await stat(pgFolder);
  const stranger = spawn('sleep', ['60'], {
    ...(isRoot && { uid: owner.uid, gid: owner.gid }),
    stdio: 'ignore',
  });
  t.after(() => kill9(stranger));
  const socketFolder = join(place.dataDir, 'socket');
  for (const file of [join(pgFolder, 'postmaster.pid'), join(socketFolder, '.s.PGSQL.5432.lock')]) {
    await writeFile(
      file,
      `${stranger.pid}\n${pgFolder}\n1750000000\n5432\n${socketFolder}\n\n  1 1\nready   \n`,
    );
    await chown(file, owner.uid, owner.gid);
  }
  await assert.rejects(findEngineUrl(place.dataDir), /npm start/);
  const second = await place.start();
  assert.deepEqual(await query(second.databaseUrl, 'SELECT 1'), [[1]]);
  assert.equal(stranger.exitCode, null, 'the stranger was left alone');
});

test('kill -9 in the middle of creating the database leaves a DATA_DIR that starts (section 10)', async (t) => {
  const place = await Place.make(t);
  const owner = place.spawnOwner();
  await until('a half-made database', async () => {
    const names = await readdir(place.dataDir).catch(() => []);
    const unfinished = names.find((name) => name.startsWith('pg.new-'));
    return unfinished !== undefined && (await readdir(join(place.dataDir, unfinished))).includes('global');
  });
  await kill9(owner);
  assert.ok(!(await readdir(place.dataDir)).includes('pg'));
  const engine = await place.start();
  assert.deepEqual(await query(engine.databaseUrl, 'SELECT 1'), [[1]]);
  assert.deepEqual(
    (await readdir(place.dataDir)).filter((name) => name.startsWith('pg.new-')),
    [],
  );
});

test('a DATA_DIR too long for a socket works, at the same address each time (section 10)', async (t) => {
  const place = await Place.makeUsed(t, join('a'.repeat(90), 'a folder, with spaces', 'b'.repeat(90)));
  const first = await place.start();
  assert.ok(place.dataDir.length > 150);
  await query(first.databaseUrl, keepARow);
  const socketFolder = (await readFile(join(place.dataDir, 'socket-folder'), 'utf8')).trim();
  assert.equal(await modeOf(socketFolder), '700');
  await first.stop();
  const second = await place.start();
  assert.equal(second.databaseUrl, first.databaseUrl);
  assert.deepEqual(await query(second.databaseUrl, readTheRow), [['a row']]);
  await second.stop();
  await chmod(socketFolder, 0o777);
  const third = await place.start();
  assert.notEqual(third.databaseUrl, first.databaseUrl, 'a folder that is open to others is not used again');
  await rm(socketFolder, { recursive: true });
});

test('a DATA_DIR with spaces, commas and single quotes works, and one that breaks a shell is refused (section 10)', async (t) => {
  const place = await Place.make(t, "a 'b', c");
  const engine = await place.start();
  assert.deepEqual(await query(engine.databaseUrl, 'SELECT 1'), [[1]]);
  assert.equal(await findEngineUrl(place.dataDir), engine.databaseUrl);
  for (const name of ['a"b', 'a$b', 'a`b', 'a\\b']) {
    const other = await Place.make(t, name);
    await assert.rejects(other.start(), /Choose another/, name);
  }
});

test('an ordinary user runs the engine as itself (section 10)', {
  skip:
    (!isRoot && 'the other tests are this one') ||
    (!ordinaryUserReaches(process.execPath) && 'an ordinary user can not read below this folder'),
}, async (t) => {
  const place = await Place.make(t);
  await mkdir(place.dataDir);
  await chown(place.dataDir, ordinaryId, ordinaryId);
  const owner = place.spawnOwner({ uid: ordinaryId, gid: ordinaryId });
  const { databaseUrl, postmasterPid } = await firstLine(owner);
  assert.deepEqual(await query(databaseUrl, 'SELECT current_user::text'), [['ownline']]);
  assert.equal((await stat(join(place.dataDir, 'pg'))).uid, ordinaryId);
  owner.kill('SIGTERM');
  const [exitCode] = await once(owner, 'exit');
  assert.equal(exitCode, 0);
  await hasEnded(postmasterPid);
});

test('root is told when PostgreSQL can not reach DATA_DIR, and which folder is to blame (section 10)', {
  skip: !isRoot && 'needs root',
}, async (t) => {
  const place = await Place.make(t, join('closed', 'data'));
  const closed = dirname(place.dataDir);
  await mkdir(closed, { mode: 0o700 });
  await assert.rejects(place.start(), (error: Error) => error.message.includes(`chmod o+x ${closed}`));
  await chmod(closed, 0o711);
  await place.start();
});

test('data of another PostgreSQL version is refused with the way to move it (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const engine = await place.start();
  await engine.stop();
  await writeFile(join(place.dataDir, 'pg', 'PG_VERSION'), '17\n');
  await assert.rejects(place.start(), /holds data of PostgreSQL 17.*backup FILE/);
});

test('no error and no log line shows a statement, a value or a credential (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const engine = await place.start();
  await query(
    engine.databaseUrl,
    "CREATE TABLE secrets (value text PRIMARY KEY); INSERT INTO secrets VALUES ('own_live_secret')",
  );
  await assert.rejects(query(engine.databaseUrl, "INSERT INTO secrets VALUES ('own_live_secret')"));
  const log = await until('the error in the log', async () => {
    const text = await readFile(join(place.dataDir, 'postgres.log'), 'utf8');
    return text.includes('duplicate key') && text;
  });
  assert.ok(!(log + place.logLines.join('')).includes('own_live_secret'));
});

test('a C library that PostgreSQL does not run on is named, with DATABASE_URL as the way out (section 10)', () => {
  for (const version of ['2.27', '2.36', '3.0']) assert.doesNotThrow(() => checkGlibc(version), version);
  assert.throws(() => checkGlibc('2.26'), /needs glibc 2\.27.*2\.26.*DATABASE_URL/);
  assert.throws(() => checkGlibc(undefined), /another C library.*DATABASE_URL/);
});
