import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connectToDatabase, type DatabaseConnection } from '#test/support/database/database-connection.ts';
import {
  type MovableDatabaseClock,
  makeClockMovable,
} from '#test/support/database/movable-database-clock.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database/test-database.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { type SpawnedService, spawnService } from '#test/support/processes/spawned-service.ts';
import { askForClockLook, clockOf, untilStep } from '#test/support/service/stepping-service.ts';
import { until } from '#test/support/service/until.ts';

const daySeconds = 86_400;

describe('the commands for a step of the database clock (specification section 10.7)', () => {
  let database: TestDatabase;
  let databaseClock: MovableDatabaseClock;
  let connection: DatabaseConnection;
  let dataDir: string;
  let settings: Record<string, string>;
  let services: SpawnedService[];
  let commandLine: CommandLine;

  before(async () => {
    database = await createTestDatabase();
    databaseClock = await makeClockMovable(database.url);
    connection = await connectToDatabase(database.url);
    dataDir = await mkdtemp(join(tmpdir(), 'ownline-clock-'));
    settings = { DATA_DIR: dataDir, DATABASE_URL: database.url, METRICS_TOKEN: 'a-token-of-the-tests' };
    services = [await spawnService({ settings }), await spawnService({ settings })];
    commandLine = new CommandLine(dataDir, settings);
  });
  after(async () => {
    for (const service of services) await service.kill('SIGTERM');
    await databaseClock.close();
    await connection.close();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const step = async (seconds: number) => {
    await databaseClock.set(seconds * 1_000);
    await askForClockLook(connection);
  };
  interface LogLine {
    readonly msg: string;
    readonly level: number | string;
    readonly stepSeconds?: number;
    readonly database?: string;
    readonly service?: string;
  }
  const clockLines = ({ log }: SpawnedService) =>
    log()
      .split('\n')
      .filter((line) => line.includes('the database') && line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
  const metric = async ({ baseUrl }: SpawnedService, name: string) => {
    const headers = { authorization: `Bearer ${settings.METRICS_TOKEN}` };
    const text = await (await fetch(`${baseUrl}/metrics`, { headers })).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };

  it('each process logs a clock step and its end, and /metrics and `clock status` show the step', async () => {
    await step(daySeconds);
    for (const service of services) {
      await untilStep(service.baseUrl, daySeconds);
      const line = await until('the step is logged', () => clockLines(service).at(-1));
      assert.match(line.msg, /clock was set: .* clock confirm/);
      assert.ok(Math.abs((line.stepSeconds ?? 0) - daySeconds) < 5, String(line.stepSeconds));
      const apartMs = Date.parse(line.database ?? '') - Date.parse(line.service ?? '');
      assert.ok(Math.abs(apartMs - daySeconds * 1_000) < 5_000, `${apartMs} ms`);
      assert.ok(Math.abs((await metric(service, 'ownline_clock_step_seconds')) - daySeconds) < 5);
      assert.equal(await metric(service, 'ownline_clock_settled'), 0);
      assert.equal(await metric(service, 'ownline_clock_steps_total'), 1);
    }
    const status = await commandLine.json('clock', 'status');
    assert.equal(status.settled, false);
    assert.ok(Math.abs(status.step_seconds - daySeconds) < 5, String(status.step_seconds));
    assert.ok(Math.abs(Date.parse(status.service_time) - Date.now()) < 60_000, status.service_time);
    await step(0);
    for (const service of services) {
      await untilStep(service.baseUrl, 0);
      await until('the return is logged', () =>
        clockLines(service).at(-1)?.msg.includes('clock was corrected'),
      );
      assert.equal(await metric(service, 'ownline_clock_settled'), 1);
    }
    assert.equal((await commandLine.json('clock', 'status')).settled, true);
  });

  it('`clock confirm` makes all processes follow the clock at once', async () => {
    await step(-daySeconds);
    for (const service of services) await untilStep(service.baseUrl, -daySeconds);
    const confirmed = await commandLine.json('clock', 'confirm');
    assert.equal(confirmed.confirmed, true);
    assert.ok(Math.abs(confirmed.moved_seconds + daySeconds) < 5, String(confirmed.moved_seconds));
    for (const service of services) {
      await untilStep(service.baseUrl, 0);
      await until('it is logged', () => clockLines(service).at(-1)?.msg.includes('follows the step'));
    }
    const team = await commandLine.json('team', 'create', '--name', 'Example Ltd');
    assert.ok(
      Math.abs(Date.parse(team.created_at) - Date.now() + daySeconds * 1_000) < 120_000,
      team.created_at,
    );
    const again = await commandLine.json('clock', 'confirm');
    assert.deepEqual([again.moved_seconds, again.settled], [0, true], 'nothing is left to follow');
  });

  it('the next start and the command line notice a clock step that happened while no process ran', async () => {
    for (const service of services) await service.kill('SIGTERM');
    // After the last test the service's time is a day behind, so setting the correct time makes a clock step.
    await databaseClock.set(0);
    const status = await commandLine.json('clock', 'status');
    assert.ok(Math.abs(status.step_seconds - daySeconds) < 30, String(status.step_seconds));
    services = [await spawnService({ settings })];
    const [service] = services;
    assert.ok(service);
    assert.equal((await clockOf(service.baseUrl)).settled, false);
    await commandLine.json('clock', 'confirm');
    await untilStep(service.baseUrl, 0);
  });
});
