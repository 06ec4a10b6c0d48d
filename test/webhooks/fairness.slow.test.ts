import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import '#server/app/app.ts';
import { allStatements } from '#server/database/statement.ts';
import { nodesOf, type PlanNode } from '#test/support/service/plan-node.ts';
import { lockRows } from '#test/support/service/row-lock.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import {
  answering,
  silent,
  startWebhookReceiver,
  type WebhookReceiver,
} from '#test/support/webhooks/webhook-receiver.ts';
import {
  addWebhook,
  attemptsOf,
  emit,
  eventIdOf,
  settled,
  startWebhooking,
} from '#test/support/webhooks/webhook-world.ts';

describe('a backlog of one team costs the others nothing (decision 0017) (§6.3/slots)', () => {
  let service: TestService;
  let hanging: WebhookReceiver;
  let quick: WebhookReceiver;

  before(async () => {
    service = await startWebhooking();
    hanging = await startWebhookReceiver({ behaviour: silent });
    quick = await startWebhookReceiver();
  });
  after(async () => {
    await hanging.close();
    await service.close();
    await quick.close();
  });

  it('20 receivers that hang and 2,000 due deliveries of one team delay no first attempt of another', async () => {
    const { id: slowTeam } = await service.newTeam();
    for (let n = 0; n < 20; n += 1) await addWebhook(service.runtime, slowTeam, hanging.url);
    await emit(
      service.runtime,
      slowTeam,
      Array.from({ length: 100 }, (_, n) => `slow ${n}`),
    );
    await until('the team has all the places that it may have', () => hanging.hanging() === 256);
    const { id: team } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, team, quick.url);
    const delaysMs: number[] = [];
    for (let n = 1; n <= 20; n += 1) {
      const writtenMs = performance.now();
      await emit(service.runtime, team, [`quick ${n}`]);
      const received = await quick.count(n);
      delaysMs.push((received.at(-1)?.atMs ?? 0) - writtenMs);
    }
    assert.equal(new Set(quick.received.map(({ body }) => eventIdOf(body))).size, 20);
    assert.ok(Math.max(...delaysMs) < 2_000, `the first attempts came after ${delaysMs.map(Math.round)} ms`);
    assert.equal(hanging.hanging(), 256, 'and the team has no more places than before');
    assert.ok(webhook.id);
  });

  it('failures that wait to be counted keep no success of another team waiting', async () => {
    const failing = await startWebhookReceiver({ behaviour: answering(500) });
    const { id: failingTeam } = await service.newTeam();
    const { id: team } = await service.newTeam();
    const held = await addWebhook(service.runtime, failingTeam, failing.url);
    const webhook = await addWebhook(service.runtime, team, quick.url);
    const lock = await lockRows(service.databaseUrl, 'SELECT FROM webhooks WHERE id = $1 FOR UPDATE', [
      held.id,
    ]);
    try {
      await emit(service.runtime, failingTeam, ['fails']);
      // One to count the failure, and one to write when the webhook was triggered.
      await lock.waiting(2);
      await emit(service.runtime, team, ['succeeds']);
      await settled(service, webhook);
      assert.deepEqual(await attemptsOf(service, held), []);
    } finally {
      await lock.release();
    }
    const [first] = await until('the failure is counted', async () => {
      const attempts = await attemptsOf(service, held);
      return attempts.length > 0 && attempts;
    });
    assert.equal(first?.is_counted, true);
    assert.equal(
      failing.received.length,
      1,
      'the success came first, and the failure was not given up for it',
    );
    await failing.close();
  });

  it('a claim reads as many rows of a webhook as it has slots, however many wait', async () => {
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    const { id: team } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, team, hanging.url);
    // Due only when this test says so: nothing else takes them.
    const due = 2_000_000_000;
    await client.query(
      `INSERT INTO due_deliveries (webhook_id, delivery_id, team_id, event_id, due_at)
       SELECT $1, (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid, $2, $1, to_timestamp($3)
       FROM generate_series(1, 20000) AS n`,
      [webhook.id, team, due],
    );
    await client.query('ANALYZE due_deliveries');
    const text = allStatements().get('webhooks.claim-deliveries')?.text ?? '';
    await client.query('SET plan_cache_mode = force_generic_plan');
    await client.query('BEGIN');
    await client.query(`PREPARE claim AS ${text}`);
    const now = `to_timestamp(${due + 1})`;
    const nobody = '00000000-0000-0000-0000-000000000000';
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE claim (${now}, ${now}, 256, '${nobody}', '{}', '{}', '{}')`,
    );
    await client.query('ROLLBACK');
    await client.end();
    const scans = rows
      .flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan))
      .filter((node) => node['Relation Name'] === 'due_deliveries');
    assert.ok(scans.length >= 4, `scans of the queue: ${scans.length}`);
    for (const scan of scans) {
      const read = scan['Actual Rows'] + (scan['Rows Removed by Filter'] ?? 0);
      assert.ok(read <= 256, `${scan['Node Type']} reads ${read} rows each time`);
      assert.notEqual(scan['Node Type'], 'Seq Scan');
    }
  });
});
