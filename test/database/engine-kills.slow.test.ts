import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { findEngineUrl } from '#server/database/engine/engine-url.ts';
import {
  firstLine,
  hasEnded,
  isRoot,
  keepARow,
  kill9,
  Place,
  query,
  readTheRow,
} from '#test/support/processes/engine-folder.ts';
import { processesOf } from '#test/support/runner/processes-of.ts';
import { until } from '#test/support/service/until.ts';

test('a start after kill -9 of the service takes over the running PostgreSQL with its connections (section 10)', async (t) => {
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

test('a PostgreSQL that a new process took over is restarted when it dies, and stops with that process (section 10)', async (t) => {
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

test('a running PostgreSQL with another command line, as of another version, is replaced and keeps its data (section 10)', async (t) => {
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

test('PostgreSQL killed under the service is restarted with its data, which the log says (section 10)', async (t) => {
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

for (const [length, below] of [
  ['short', 'data'],
  ['long', join('a'.repeat(90), 'b'.repeat(90))],
] as const) {
  test(`a dead PostgreSQL whose socket folder is missing is restarted at its address, with a ${length} DATA_DIR (section 10.3)`, async (t) => {
    const place = await Place.makeUsed(t, below);
    const engine = await place.start();
    const socketFolder = (await readFile(join(place.dataDir, 'socket-folder'), 'utf8')).trim();
    await rm(socketFolder, { recursive: true });
    const pid = engine.postmasterPid();
    process.kill(pid, 'SIGKILL');
    const rows = await until('an answer', () => query(engine.databaseUrl, 'SELECT 1').catch(() => undefined));
    assert.deepEqual(rows, [[1]]);
    assert.equal((await stat(socketFolder)).mode & 0o777, 0o700);
  });
}

test('a start replaces a running PostgreSQL without a socket, and keeps its data (section 10.3)', async (t) => {
  const place = await Place.makeUsed(t);
  const owner = place.spawnOwner();
  const before = await firstLine(owner);
  await query(before.databaseUrl, keepARow);
  await kill9(owner);
  await rm(join(place.dataDir, 'socket'), { recursive: true });
  const engine = await place.start();
  await hasEnded(before.postmasterPid);
  assert.deepEqual(await query(engine.databaseUrl, readTheRow), [['a row']]);
});

test('a stop during a restart of PostgreSQL leaves no process, and a database that starts (section 10)', async (t) => {
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

test('a pid file with the id of another program’s process does not keep PostgreSQL from starting (section 10)', async (t) => {
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

test('kill -9 during the creation of the database leaves a DATA_DIR that starts (section 10)', async (t) => {
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

test('an uncaught exception ends the process after its PostgreSQL has stopped (section 10.3)', async (t) => {
  const place = await Place.makeUsed(t);
  const owner = place.spawnOwner();
  const { databaseUrl, postmasterPid } = await firstLine(owner);
  await query(databaseUrl, keepARow);
  owner.kill('SIGUSR2');
  const [code] = await once(owner, 'exit');
  assert.equal(code, 1);
  await hasEnded(postmasterPid);
  const names = await readdir(join(place.dataDir, 'pg'));
  assert.ok(!names.includes('postmaster.pid'), 'it was shut down, not killed');
  const engine = await place.start();
  assert.deepEqual(await query(engine.databaseUrl, readTheRow), [['a row']]);
});

test('an uncaught exception during the creation of the database leaves no process behind (section 10.3)', {
  skip: process.platform !== 'linux' && 'only Linux shows the arguments and folders of processes',
}, async (t) => {
  const place = await Place.make(t);
  const owner = place.spawnOwner();
  await until('initdb runs', () => processesOf(place.dataDir).some((line) => line.includes('initdb')));
  owner.kill('SIGUSR2');
  const [code] = await once(owner, 'exit');
  assert.equal(code, 1);
  assert.deepEqual(processesOf(place.dataDir), []);
});
