import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { processesOf } from '#campaign/stops/processes.ts';
import type { Engine } from '#server/database/engine/engine.ts';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
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
import { assertNone } from '#test/support/service/assert-each.ts';
import { until } from '#test/support/service/until.ts';

/** Starts a process with a used database that has a row, and kills it. @returns the database that still runs */
async function leaveRunning(place: Place) {
  const owner = place.spawnOwner();
  const left = await firstLine(owner);
  await query(left.databaseUrl, keepARow);
  const attached = new pg.Client({ connectionString: left.databaseUrl });
  attached.on('error', () => undefined);
  await attached.connect();
  await kill9(owner);
  return { ...left, attached };
}

/** Kills PostgreSQL, and waits until the service has started it again. */
async function killUnderService(engine: Engine): Promise<void> {
  const pid = engine.postmasterPid();
  process.kill(pid, 'SIGKILL');
  await until('another postmaster', () => engine.postmasterPid() !== pid);
  const rows = await until('an answer', () => query(engine.databaseUrl, readTheRow).catch(() => undefined));
  assert.deepEqual(rows, [['a row']]);
}

test('a start after kill -9 of the service takes over the running PostgreSQL, restarts it when it dies, and stops it at the end (section 10)', async (t) => {
  const place = await Place.makeUsed(t);
  const { databaseUrl, postmasterPid, attached } = await leaveRunning(place);
  const engine = await place.start();
  assert.deepEqual([engine.postmasterPid(), engine.databaseUrl], [postmasterPid, databaseUrl]);
  assert.deepEqual((await attached.query({ text: readTheRow, rowMode: 'array' })).rows, [['a row']]);
  await attached.end();
  await killUnderService(engine);
  await engine.stop();
  await hasEnded(engine.postmasterPid());
});

for (const [what, parameters] of [
  ['with another command line, as of another version,', { work_mem: '5MB' }],
  ['without a socket', undefined],
] as const) {
  test(`a start replaces a running PostgreSQL ${what} and keeps its data (section 10.3)`, async (t) => {
    const place = await Place.makeUsed(t);
    const { postmasterPid, attached } = await leaveRunning(place);
    if (!parameters) await rm(join(place.dataDir, 'socket'), { recursive: true });
    const engine = await place.start(parameters);
    await hasEnded(postmasterPid);
    await attached.end();
    assert.deepEqual(await query(engine.databaseUrl, readTheRow), [['a row']]);
    if (parameters) assert.deepEqual(await query(engine.databaseUrl, 'SHOW work_mem'), [['5MB']]);
  });
}

for (const [length, below] of [
  ['short', 'data'],
  ['long', join('a'.repeat(90), 'b'.repeat(90))],
] as const) {
  test(`PostgreSQL killed under the service is restarted with its data, also without its socket folder, with a ${length} DATA_DIR (section 10.3)`, async (t) => {
    const place = await Place.makeUsed(t, below);
    const engine = await place.start();
    await query(engine.databaseUrl, keepARow);
    await killUnderService(engine);
    const socketFolder = (await readFile(join(place.dataDir, 'socket-folder'), 'utf8')).trim();
    await rm(socketFolder, { recursive: true });
    await killUnderService(engine);
    assert.equal((await stat(socketFolder)).mode & 0o777, 0o700);
    assert.ok(place.logLines.some((line) => line.includes('PostgreSQL has ended: starting it again')));
  });
}

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

test('a start succeeds on a DATA_DIR that a kill -9 during the creation of the database left (section 10)', async (t) => {
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
  assertNone(await readdir(place.dataDir), (name) => name.startsWith('pg.new-'));
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
  await until('initdb runs', () => processesOf(place.dataDir).some(({ words }) => words.includes('initdb')));
  owner.kill('SIGUSR2');
  const [code] = await once(owner, 'exit');
  assert.equal(code, 1);
  assert.deepEqual(processesOf(place.dataDir), []);
});
