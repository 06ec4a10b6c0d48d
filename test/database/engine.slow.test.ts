import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { checkGlibc } from '#server/database/engine/engine-files.ts';
import {
  firstLine,
  hasEnded,
  isRoot,
  keepARow,
  Place,
  query,
  readTheRow,
} from '#test/support/processes/engine-folder.ts';
import { until } from '#test/support/service/until.ts';

const ordinaryId = 65_534;
/**
 * True if the ordinary user may run the program: false if the checkout is in a home folder that other users can't
 * enter.
 */
const ordinaryUserReaches = (program: string) =>
  spawnSync(program, ['--version'], { uid: ordinaryId, gid: ordinaryId }).error === undefined;

async function modeOf(path: string): Promise<string> {
  return ((await lstat(path)).mode & 0o777).toString(8);
}

test('a new database is private to its user, and the service connects as a role without superuser rights, whatever characters the path has (section 10)', async (t) => {
  const place = await Place.make(t, "a 'b', c");
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
  const socketFolder = (await readFile(join(place.dataDir, 'socket-folder'), 'utf8')).trim();
  assert.equal(await modeOf(place.dataDir), isRoot ? '711' : '700');
  for (const folder of [join(place.dataDir, 'pg'), join(place.dataDir, 'engine'), socketFolder]) {
    assert.equal(await modeOf(folder), '700', folder);
    assert.equal((await stat(folder)).uid === 0, false, folder);
  }
  assert.equal(await modeOf(join(socketFolder, '.s.PGSQL.5432')), '700');
  assert.equal(await modeOf(join(place.dataDir, 'postgres.log')), '600');
  // npm ran no scripts, so the service makes the links of PostgreSQL's libraries.
  const [version = ''] = await readdir(join(place.dataDir, 'engine'));
  const library = join(place.dataDir, 'engine', version, 'lib', 'libpq.so.5');
  assert.match(await readlink(library), /^libpq\.so\.5\.\d+$/);
  for (const name of ['a"b', 'a$b', 'a`b', 'a\\b']) {
    const other = await Place.make(t, name);
    await assert.rejects(other.start(), /Choose another/, name);
  }
});

test('a second start on one DATA_DIR fails, names the process that uses it, and says how to connect to its database (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const engine = await place.start();
  const assertTaken = () =>
    assert.rejects(place.start(), (error: Error) => {
      assert.equal(error.name, 'EngineError');
      for (const words of [place.dataDir, `in use by process ${process.pid}`, '-- database-url)'])
        assert.ok(error.message.includes(words), error.message);
      return true;
    });
  await assertTaken();
  assert.deepEqual(await query(engine.databaseUrl, 'SELECT 1'), [[1]], 'the first one goes on');
  await engine.stop();
  // An older release left the lock open to all.
  const lock = join(place.dataDir, 'lock');
  await chmod(lock, 0o644);
  await place.start();
  assert.equal(await modeOf(lock), '600');
  await assertTaken();
});

test('one of ten simultaneous starts on one DATA_DIR succeeds (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const starts = await Promise.allSettled(Array.from({ length: 10 }, () => place.start()));
  assert.equal(starts.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('a stop leaves no process, and the next start finds the data (section 10)', async (t) => {
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

test('a DATA_DIR whose path is too long for a socket works, at the same address each time (section 10)', async (t) => {
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

test('the engine runs as the ordinary user who starts it (section 10)', {
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

test('a start as root refuses a DATA_DIR that the user of PostgreSQL can’t reach, and names the folder that prevents it (section 10)', {
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
  await assert.rejects(
    place.start(),
    /holds data of PostgreSQL 17.*Start the former release.*ownline -- backup FILE.*ownline -- restore FILE/,
  );
});

test('errors and log lines show no statement, value or credential (section 10)', async (t) => {
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

test('postgres.log is cut to its newer half at its maximum size while PostgreSQL runs (section 10.4)', async (t) => {
  const place = await Place.makeUsed(t);
  // The size of the log is checked each millisecond, so that checks happen while the log is copied.
  const engine = await place.start({}, { logCheckIntervalMs: 1 });
  const log = join(place.dataDir, 'postgres.log');
  const write = (word: string, times: number) =>
    query(
      engine.databaseUrl,
      `DO $$ BEGIN FOR line IN 1..${times} LOOP RAISE LOG '${word} %', repeat('x', 100000); END LOOP; END $$`,
    );
  for (let round = 0; round < 3; round += 1) {
    await write('filler', 110);
    // PostgreSQL may write on while the log is copied.
    await until('the log is cut', async () => (await stat(log)).size < 5_000_000);
    assert.ok((await stat(`${log}.1`)).size > 10_000_000);
    assert.equal(await modeOf(`${log}.1`), '600');
  }
  await write('afterwards', 1);
  assert.match(
    await readFile(log, 'utf8'),
    /^[^\0]*LOG: {2}afterwards/,
    'PostgreSQL writes on at the beginning',
  );
});

test('the error for an unsuitable C library names the library, and DATABASE_URL as the alternative (section 10)', () => {
  for (const version of ['2.27', '2.36', '3.0']) assert.doesNotThrow(() => checkGlibc(version), version);
  assert.throws(() => checkGlibc('2.26'), /needs glibc 2\.27.*2\.26.*DATABASE_URL/);
  assert.throws(() => checkGlibc(undefined), /another C library.*DATABASE_URL/);
});
