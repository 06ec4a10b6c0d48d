import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openRuntime } from '#server/app/open-runtime.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { startTestService } from '#test/support/service/test-service.ts';

it("a process takes the database's time, whatever its own clock says (§2.1/timestamps)", async (t) => {
  const service = await startTestService();
  const { config, logger } = service.runtime;
  const clock = new Clock();
  clock.follow(Date.UTC(2020), performance.now());
  const runtime = await openRuntime(config, service.databaseUrl, logger, clock);
  t.after(() => runtime.database.close());
  t.after(() => service.close());
  const [database] = await service.query<{ ms: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
  );
  const apartMs = Math.abs((database?.ms ?? 0) - clock.nowMs());
  assert.ok(apartMs < 5_000, `${apartMs} ms apart`);
});
