import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectToDatabase } from '#test/support/database/database-connection.ts';
import { makeClockMovable } from '#test/support/database/movable-database-clock.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { spawnService } from '#test/support/processes/spawned-service.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { askForClockLook, untilStep } from '#test/support/service/stepping-service.ts';
import { until } from '#test/support/service/until.ts';

const daySeconds = 86_400;

/** The effects of a step are in test/database/clock-*.test.ts and in `npm run campaign -- clocks`. */
describe('the commands for a step of the database clock (specification section 10.7)', () => {
  const dataDir = givenFolder();
  const database = given(createTestDatabase);
  const databaseClock = given(() => makeClockMovable(database.url));
  const connection = given(() => connectToDatabase(database.url));

  it('a step is logged and in /metrics, `clock status` shows it, and all processes follow it after `clock confirm`', async () => {
    const settings = { DATA_DIR: dataDir, DATABASE_URL: database.url, METRICS_TOKEN: 'a-token-of-the-tests' };
    const services = [await spawnService({ settings }), await spawnService({ settings })];
    try {
      const commandLine = new CommandLine(dataDir, settings);
      const isNear = (seconds: number) => assert.ok(Math.abs(seconds - daySeconds) < 5, `${seconds} s`);
      await databaseClock.set(daySeconds * 1_000);
      await askForClockLook(connection);
      for (const { baseUrl, log } of services) {
        await untilStep(baseUrl, daySeconds);
        await until('the step is logged', () => /clock was set: .* clock confirm/.test(log()));
        const headers = { authorization: `Bearer ${settings.METRICS_TOKEN}` };
        const metrics = await (await fetch(`${baseUrl}/metrics`, { headers })).text();
        isNear(Number(/^ownline_clock_step_seconds (\S+)$/m.exec(metrics)?.[1]));
        assert.match(metrics, /^ownline_clock_settled 0$/m);
      }
      const status = await commandLine.json('clock', 'status');
      assert.equal(status.settled, false);
      isNear(status.step_seconds);
      const confirmed = await commandLine.json('clock', 'confirm');
      assert.equal(confirmed.confirmed, true);
      isNear(confirmed.moved_seconds);
      for (const { baseUrl, log } of services) {
        await untilStep(baseUrl, 0);
        await until('it is logged', () => log().includes('follows the step'));
      }
      const again = await commandLine.json('clock', 'confirm');
      assert.deepEqual([again.moved_seconds, again.settled], [0, true], 'nothing is left to follow');
    } finally {
      for (const service of services) await service.kill('SIGTERM');
    }
  });
});
