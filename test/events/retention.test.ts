import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ensurePartitions } from '#server/database/partitions.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { purgeAttempts, purgedMax } from '#server/webhooks/deliveries/purge-attempts.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';

const dayMs = 86_400_000;

describe('what is kept of deliveries (specification section 10.5)', () => {
  let service: TestService;

  before(async () => {
    service = await startTestService({ ROLES: 'api', DELIVERY_LOG_DAYS: '7' });
  });
  after(() => service.close());

  it('attempts are forgotten after DELIVERY_LOG_DAYS, in batches; their deliveries and younger ones stay', async () => {
    const { runtime, clock, query } = service;
    const team = await service.newTeam();
    const delivery = runtime.ids.next('dlv');
    await query(
      `INSERT INTO deliveries (team_id, id, webhook_id, event_id, event_type, status, created_at, finished_at,
         succeeded_at)
       VALUES ($1, $2, $2, $2, 'message.sent', 'succeeded', $3, $3, $3)`,
      [team.id, delivery, clock.now()],
    );
    const attempt = async (count: number) => {
      const ids = Array.from({ length: count }, () => runtime.ids.next('att'));
      await query(
        `INSERT INTO attempts (team_id, delivery_id, id, webhook_id, started_at, duration_ms, outcome, url, response_body, is_counted)
         SELECT $1, $2, id, $2, $3, 5, 'succeeded', 'https://hooks.example.com/', 'ok', true FROM unnest($4::uuid[]) AS id`,
        [team.id, delivery, clock.now(), ids],
      );
    };
    await attempt(2 * purgedMax + 1);
    clock.advance(6 * dayMs);
    await ensurePartitions(runtime.database.pool, clock, createLogger('fatal'));
    await attempt(3);
    assert.equal(await purgeAttempts(runtime), 0);
    clock.advance(dayMs + 1);
    assert.equal(await purgeAttempts(runtime), 2 * purgedMax + 1);
    assert.equal((await query('SELECT FROM attempts')).length, 3);
    assert.equal((await query('SELECT FROM deliveries')).length, 1);
  });
});
