import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pg from 'pg';
import { givenService } from '#test/support/service/given-team.ts';
import '#server/app/app.ts';
import { allStatements } from '#server/database/statement.ts';
import { nodesOf, type PlanNode } from '#test/support/database/plan-node.ts';
import { addWebhook } from '#test/support/webhooks/webhook-world.ts';

describe('a claim of deliveries beside a long backlog (decision 0017) (§6.3/slots)', () => {
  const service = givenService({ ROLES: 'api' });

  it('a claim reads at most as many deliveries of a webhook as the webhook has slots', async () => {
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    const { id: team } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, team, 'https://hooks.example.com/');
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
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE claim ('{${webhook.id}}', '{0}', '{0}', '{0}', '{0}', '{}', ${now}, '{}', '{}', 256, ${now})`,
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
