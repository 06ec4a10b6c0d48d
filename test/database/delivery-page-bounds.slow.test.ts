import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventTypes } from '#contract/event.ts';
import { deliveryStatuses, type ListDeliveriesQuery } from '#contract/webhook.ts';
import { type DeliveryId, publicId, type TeamId, type WebhookId } from '#server/platform/ids/ids.ts';
import { listDeliveries } from '#server/webhooks/deliveries/list-deliveries.ts';
import { deliveryPageExaminedMax } from '#server/webhooks/limits.ts';
import { expectBounded, explainPage, walkPages } from '#test/support/database/explain-page.ts';
import { givenFilledDatabase } from '#test/support/database/given-database.ts';

const total = 300_000;
const team = '01990000-0000-7000-8000-000000000001' as TeamId;
/** `busy` has nine tenths of the team's deliveries, `quiet` has the rest. */
const busy = '01990000-0000-7000-8000-000000000011' as WebhookId;
const quiet = '01990000-0000-7000-8000-000000000012' as WebhookId;
/** Rows that a query may read besides those of its page. */
const beside = 20;

describe('a page of 300,000 deliveries (decision 0012)', () => {
  const { service, client } = givenFilledDatabase((filler) =>
    filler.query(`
      INSERT INTO teams SELECT '${team}', 'Example team', 'enterprise', 1000000000, to_timestamp(0), 'a1b2';
      INSERT INTO webhooks (team_id, id, url, events, secret, created_at)
        SELECT '${team}', id, 'https://example.com/', ARRAY['message.sent'], 'x', to_timestamp(0)
        FROM unnest(ARRAY['${busy}', '${quiet}']::uuid[]) AS id;
      CREATE TEMP TABLE months AS SELECT (extract(epoch FROM d) * 1000)::bigint AS ms
        FROM (SELECT date_trunc('month', clock_timestamp()) - interval '45 days' AS d) AS since;
      INSERT INTO deliveries (team_id, id, webhook_id, event_id, event_type, status, created_at, finished_at, succeeded_at)
        SELECT '${team}', id, webhook_id, id, CASE WHEN n % 3 = 0 THEN 'message.received' ELSE 'message.sent' END, status,
          to_timestamp(0), CASE WHEN status <> 'pending' THEN to_timestamp(1) END,
          CASE WHEN status = 'succeeded' THEN to_timestamp(1) END
        FROM (
          SELECT n, (lpad(to_hex(ms + n::bigint * 15000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid AS id,
            CASE WHEN n % 10 < 9 THEN '${busy}' ELSE '${quiet}' END::uuid AS webhook_id,
            CASE WHEN n > ${total} - 40000 THEN 'pending' WHEN n IN (2, 55551) THEN 'failed' ELSE 'succeeded' END AS status
          FROM months, generate_series(1, ${total}) AS n
        ) AS made;
      INSERT INTO due_deliveries (webhook_id, delivery_id, team_id, event_id, due_at)
        SELECT webhook_id, id, team_id, event_id, to_timestamp(0) FROM deliveries WHERE status = 'pending' ORDER BY id;`),
  );
  let middle: string;

  before(async () => {
    const { rows } = await client.query<{ id: DeliveryId }>(
      `SELECT id FROM deliveries WHERE team_id = $1 ORDER BY id OFFSET ${total / 2} LIMIT 1`,
      [team],
    );
    middle = rows.map((row) => publicId('dlv', row.id)).join();
  });

  const explained = (webhookId: WebhookId, query: ListDeliveriesQuery) =>
    explainPage(client, service, (services) => listDeliveries(services, team, webhookId, query));

  /** Each combination of filters, from the newest delivery and from the middle. */
  function* queries(): Generator<[WebhookId, ListDeliveriesQuery]> {
    for (const webhookId of [busy, quiet])
      for (const status of [undefined, ...deliveryStatuses])
        for (const event_type of [undefined, ...eventTypes])
          for (const cursor of ['', middle])
            yield [
              webhookId,
              { ...(status && { status }), ...(event_type && { event_type }), cursor, limit: 50 },
            ];
  }

  async function assertBounded(mode: 'auto' | 'force_generic_plan'): Promise<void> {
    await client.query(`SET plan_cache_mode = ${mode}`);
    await expectBounded(queries(), (asked) => explained(...asked), deliveryPageExaminedMax, beside);
  }

  const bounded = `reads at most ${deliveryPageExaminedMax.toLocaleString('en')} rows for every combination of filters`;

  it(`a page of deliveries ${bounded}, before ANALYZE (§4.4/delivery)`, () =>
    assertBounded('force_generic_plan'));

  it(`a page of deliveries ${bounded}, after ANALYZE, with generic and custom plans`, async () => {
    await client.query('ANALYZE');
    await assertBounded('force_generic_plan');
    await assertBounded('auto');
  });

  it('a page reads as many rows as it shows if every delivery matches', async () => {
    // A page reads each queue row twice: for the order, and for the delivery's due time.
    const plan = (filters: ListDeliveriesQuery) => explained(busy, { ...filters, limit: 100 });
    await expectBounded([{}, { status: 'pending' }] as const, plan, 100, 102 + beside);
  });

  it('short and empty pages lead to every match: 2 failed of 270,000 deliveries (§4.4/delivery)', async () => {
    const { rows, empty } = await walkPages(
      (cursor) => listDeliveries({ database: service }, team, busy, { status: 'failed', cursor }),
      (page) => page.deliveries,
      total / deliveryPageExaminedMax,
    );
    assert.equal(rows.length, 2);
    assert.ok(empty > 10, `${empty}`);
  });
});
