import '#server/events/feed-store.ts';
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type pg from 'pg';
import { directions, type ListMessagesQuery, messageStatuses } from '#contract/message.ts';
import { deliveryStatuses, type ListDeliveriesQuery } from '#contract/webhook.ts';
import { allStatements } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { messagePageExaminedMax } from '#server/messages/limits.ts';
import { listMessages } from '#server/messages/list-messages.ts';
import { messageView } from '#server/messages/message.ts';
import { firstIdAt, idMax, publicId, type TeamId, type WebhookId } from '#server/platform/ids.ts';
import { listDeliveries } from '#server/webhooks/deliveries/deliveries.ts';
import { deliveryPageExaminedMax } from '#server/webhooks/limits.ts';
import { expectBounded, explain, explainPage, walkPages } from '#test/support/database/explain-page.ts';
import { givenFilledDatabase } from '#test/support/database/given-database.ts';
import { blocks, rowsRead } from '#test/support/database/plan-node.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

const total = 300_000;
const team = '01990000-0000-7000-8000-000000000001' as TeamId;
const otherTeam = '01990000-0000-7000-8000-000000000002' as TeamId;

/** `big` has nine tenths of the team's messages. The other numbers have few messages, or only old ones. */
const [big, small, unknown] = ['+14155550100', '+14155550110', '+14155550999'];
/** The busy contact has 15,000 old messages, and the rare one has ten. 5,000 other contacts have 60 each. */
const [busyContact, rareContact] = ['+14155550101', '+14155550103'];
/** `busy` has nine tenths of the team's deliveries, `quiet` has the rest. */
const busy = '01990000-0000-7000-8000-000000000011' as WebhookId;
const quiet = '01990000-0000-7000-8000-000000000012' as WebhookId;

/** Rows that a query may read besides those of its page. */
const beside = 20;

/** Removes parameters without a value, as a query string does. */
const present = <Query>(query: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as Query;

describe('pages of 300,000 messages, deliveries and events (decision 0012)', () => {
  const { service, client } = givenFilledDatabase(fill);
  let middle: string;
  before(async () => {
    middle = await idAt('messages', total / 2);
  });

  /** Inserts rows of one team over two months, and events of two teams in turn. */
  async function fill(filler: pg.Client): Promise<void> {
    await filler.query(`
      INSERT INTO teams SELECT '${team}', 'Example team', 'enterprise', 1000000000, to_timestamp(0), 'a1b2';
      INSERT INTO teams SELECT '${otherTeam}', 'Other team', 'enterprise', 1000000000, to_timestamp(0), 'b2c3';
      INSERT INTO numbers (team_id, id, phone_number, verified_at, created_at)
        SELECT '${team}', ('01990000-0000-7000-8000-0000000001' || n)::uuid, '+141555501' || n, to_timestamp(0), to_timestamp(0)
        FROM unnest(ARRAY['00', '10', '20', '30', '40', '50']) AS n;
      ALTER TABLE messages DROP CONSTRAINT messages_team_id_number_id_fkey;
      INSERT INTO webhooks (team_id, id, url, events, secret, created_at)
        SELECT '${team}', id, 'https://example.com/', ARRAY['message.sent'], 'x', to_timestamp(0)
        FROM unnest(ARRAY['${busy}', '${quiet}']::uuid[]) AS id;
      CREATE TEMP TABLE made AS SELECT n, (lpad(to_hex(ms + n::bigint * 15000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid AS id,
          (lpad(to_hex(ms + (n # 6)::bigint * 15000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid AS late_id
        FROM (SELECT (extract(epoch FROM date_trunc('month', clock_timestamp()) - interval '45 days') * 1000)::bigint AS ms) AS since,
          generate_series(1, ${total}) AS n;
      INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at,
          hand_out_count, sent_at, delivered_at, failed_at, error_code)
        SELECT '${team}', id, number_id, CASE WHEN inbound THEN 'inbound' ELSE 'outbound' END,
          CASE WHEN inbound THEN person ELSE own END, CASE WHEN inbound THEN own ELSE person END, n::text, status,
          to_timestamp(0), CASE WHEN inbound OR status = 'queued' THEN 0 ELSE 1 END,
          CASE WHEN status IN ('sent', 'delivered') THEN to_timestamp(1) END,
          CASE WHEN status = 'delivered' THEN to_timestamp(2) END, CASE WHEN status = 'failed' THEN to_timestamp(1) END,
          CASE WHEN status = 'failed' THEN 'device_error' END
        FROM (
          SELECT n, id, n % 5 = 0 AS inbound,
            CASE WHEN n % 10 < 9 THEN '${big}' WHEN n < 60000 THEN '+14155550120' ELSE '${small}' END AS own,
            ('01990000-0000-7000-8000-0000000001' || CASE WHEN n % 10 < 9 THEN '00' WHEN n < 60000 THEN '20' ELSE '10' END)::uuid
              AS number_id,
            CASE WHEN n % 30000 = 7 THEN '${rareContact}' WHEN n BETWEEN 30000 AND 120000 AND n % 6 = 1 THEN '${busyContact}'
              ELSE '+1212555' || lpad((n % 5000)::text, 4, '0') END AS person,
            CASE WHEN n % 5 = 0 THEN 'received' WHEN n > ${total} - 30000 THEN 'queued'
              WHEN n BETWEEN 90000 AND 140000 THEN 'failed' WHEN n IN (1, 33, 255556) THEN 'delivered' ELSE 'sent' END AS status
          FROM made
        ) AS g;
      INSERT INTO send_queue (team_id, message_id, number_id, to_handle, queued_at)
        SELECT team_id, id, number_id, to_handle, to_timestamp(0) FROM messages WHERE status = 'queued' ORDER BY id;
      INSERT INTO deliveries (team_id, id, webhook_id, event_id, event_type, status, created_at, finished_at, succeeded_at)
        SELECT '${team}', id, webhook_id, id, CASE WHEN n % 3 = 0 THEN 'message.received' ELSE 'message.sent' END, status,
          to_timestamp(0), CASE WHEN status <> 'pending' THEN to_timestamp(1) END,
          CASE WHEN status = 'succeeded' THEN to_timestamp(1) END
        FROM (
          SELECT n, id, CASE WHEN n % 10 < 9 THEN '${busy}' ELSE '${quiet}' END::uuid AS webhook_id,
            CASE WHEN n > ${total} - 40000 THEN 'pending' WHEN n IN (2, 55551) THEN 'failed' ELSE 'succeeded' END AS status
          FROM made
        ) AS g;
      INSERT INTO due_deliveries (webhook_id, delivery_id, team_id, event_id, due_at)
        SELECT webhook_id, id, team_id, event_id, to_timestamp(0) FROM deliveries WHERE status = 'pending' ORDER BY id;
      -- Some ids and positions differ in order, as after late commits.
      INSERT INTO events (team_id, id, type, number_id, sequence, data, created_at)
        SELECT CASE WHEN n % 2 = 0 THEN '${team}' ELSE '${otherTeam}' END::uuid, late_id, 'number.online', late_id, 1, '{}', to_timestamp(0)
        FROM made;
      INSERT INTO event_feed (team_id, event_id)
        SELECT CASE WHEN n % 2 = 0 THEN '${team}' ELSE '${otherTeam}' END::uuid, late_id FROM made ORDER BY n;`);
  }

  /** The public id of the n-th message or delivery of the team, from the newest. */
  async function idAt(table: 'messages' | 'deliveries', n: number, condition = ''): Promise<string> {
    const { rows } = await client.query<{ id: never }>(
      `SELECT id FROM ${table} WHERE team_id = $1 ${condition} ORDER BY id DESC OFFSET ${n - 1} LIMIT 1`,
      [team],
    );
    return rows.map(({ id }) => publicId(table === 'messages' ? 'msg' : 'dlv', id)).join();
  }

  const ofMessages = (query: ListMessagesQuery) =>
    explainPage(client, service, (services) => listMessages(services, team, query, messageView));
  const ofDeliveries = (webhookId: WebhookId, query: ListDeliveriesQuery) =>
    explainPage(client, service, (services) => listDeliveries(services, { teamId: team, webhookId }, query));
  const ofFeed = (name: string, values: readonly (string | number)[]) =>
    explain(client, { text: allStatements().get(name)?.text ?? '', values });

  /** Each combination of filters, from the newest message and from the middle. */
  function* messageQueries(): Generator<ListMessagesQuery> {
    for (const from of [undefined, big, small, busyContact, unknown])
      for (const to of [undefined, big, busyContact, rareContact])
        for (const filter of [
          {},
          ...messageStatuses.map((status) => ({ status })),
          ...directions.map((direction) => ({ direction })),
        ])
          for (const cursor of [undefined, middle])
            yield { ...present<ListMessagesQuery>({ from, to, cursor }), ...filter, limit: 50 };
  }

  function* deliveryQueries(): Generator<[WebhookId, ListDeliveriesQuery]> {
    for (const webhookId of [busy, quiet])
      for (const status of [undefined, ...deliveryStatuses])
        for (const event_type of [undefined, 'message.sent', 'message.received', 'message.failed'])
          for (const cursor of ['', middle.replace('msg', 'dlv')])
            yield [webhookId, { ...present<ListDeliveriesQuery>({ status, event_type, cursor }), limit: 50 }];
  }

  /** A page of the feed reads only its own events, and late pages read at most twice as many blocks as the first. */
  async function assertFeedBounded(): Promise<void> {
    for (const limit of [2, 51, 101]) {
      const page = (position: number) => ofFeed('events.feed-page', [position, team, limit]);
      await page(0);
      const first = blocks(await page(0));
      const positions = [0, total / 2, total - 400];
      await expectBounded(positions, page, limit, 2);
      for (const position of positions) assert.ok(blocks(await page(position)) <= 2 * first, `${position}`);
    }
  }

  async function assertBounded(): Promise<void> {
    await expectBounded(messageQueries(), ofMessages, messagePageExaminedMax, beside);
    await expectBounded(
      deliveryQueries(),
      (asked) => ofDeliveries(...asked),
      deliveryPageExaminedMax,
      beside,
    );
    await assertFeedBounded();
  }

  it(
    'a page reads at most 10,000 rows for every combination of filters before ANALYZE (§4.3/pages)',
    assertBounded,
  );

  it('a page reads at most 10,000 rows for every combination of filters after ANALYZE (§4.3/pages)', async () => {
    await client.query('ANALYZE');
    await assertBounded();
  });

  it('a page reads as many rows as it shows if every row matches', async () => {
    const filters: readonly ListMessagesQuery[] = [
      ...[{}, { from: big }, { to: big }, { direction: 'inbound' as const }],
      ...(['failed', 'queued', 'received'] as const).map((status) => ({ status })),
    ];
    for (const limit of [1, 50, 100])
      await expectBounded(filters, (query) => ofMessages({ ...query, limit }), limit, 1 + beside);
    // A page of deliveries reads each queue row twice: for the order, and for the delivery's due time.
    const ofBusy = (filters: ListDeliveriesQuery) => ofDeliveries(busy, { ...filters, limit: 100 });
    await expectBounded([{}, { status: 'pending' as const }], ofBusy, 100, 102 + beside);
  });

  it('page 1,000 of messages reads at most twice as many blocks as page 1', async () => {
    const limit = 20;
    const ways: [ListMessagesQuery, string][] = [
      [{}, ''],
      [{ from: big }, `AND from_handle = '${big}'`],
      [{ to: big }, `AND to_handle = '${big}'`],
      ...(['received', 'queued', 'failed'] as const).map((status): [ListMessagesQuery, string] => [
        { status },
        `AND status = '${status}'`,
      ]),
    ];
    for (const [query, condition] of ways) {
      const last = await idAt('messages', 999 * limit, condition);
      const page = (cursor: string) => ofMessages({ ...query, limit, cursor });
      await page('');
      const first = blocks(await page(''));
      const thousandth = blocks(await page(last));
      assert.ok(last && thousandth <= 2 * first, `${condition}: ${first} blocks, then ${thousandth}`);
    }
  });

  it('short and empty pages together show every match: 3 delivered messages, and 2 failed deliveries (§4.3/pages)', async () => {
    for (const filters of [{ status: 'delivered' }, { from: big, status: 'delivered' }] as const) {
      const { rows, empty } = await walkPages(
        (cursor) => listMessages({ database: service } as Runtime, team, { ...filters, cursor }, messageView),
        (page) => page.messages,
        total / messagePageExaminedMax,
      );
      assertEach(rows, ({ content }) => content, ['255556', '33', '1']);
      assert.ok(empty > 10, `${empty}`);
    }
    const { rows, empty } = await walkPages(
      (cursor) =>
        listDeliveries(
          { database: service } as Runtime,
          { teamId: team, webhookId: busy },
          { status: 'failed', cursor },
        ),
      (page) => page.deliveries,
      total / deliveryPageExaminedMax,
    );
    assert.ok(rows.length === 2 && empty > 10, `${rows.length} rows, ${empty} empty pages`);
  });

  it('the cursor of a full page is its last message, and the cursor of a short page is the last message that was examined (§4.3/pages)', async () => {
    const list = (query: ListMessagesQuery) =>
      listMessages({ database: service } as Runtime, team, query, messageView);
    const full = await list({ status: 'failed', from: big, limit: 100 });
    assert.equal(full.messages.length, 100);
    assert.deepEqual([full.cursor, full.has_more], [full.messages.at(-1)?.id, true]);
    assert.deepEqual(await list({ status: 'delivered' }), {
      messages: [],
      cursor: await idAt('messages', messagePageExaminedMax),
      has_more: true,
    });
  });

  it('finding the position of a known event reads one row, and of an unknown event a bounded number, also behind a gap', async () => {
    await client.query(
      `INSERT INTO feed_removals VALUES ('${team}', ${total / 2}, NULL) ON CONFLICT DO NOTHING`,
    );
    const idsOf = async (of: TeamId, position: number) => {
      const { rows } = await client.query<{ event_id: string }>(
        'SELECT event_id FROM event_feed WHERE team_id = $1 AND position > $2 ORDER BY position LIMIT 1',
        [of, position],
      );
      return rows.map(({ event_id }) => event_id).join();
    };
    for (const [name, values, readMax, found] of [
      ['find-position', [team, await idsOf(team, total / 2)], 1, 1],
      ['estimate-position', [team, firstIdAt(0)], 1_001, 0],
      ['estimate-position', [team, await idsOf(otherTeam, total - 40)], 1_001, 1],
      ['estimate-position', [team, idMax], 1_001, 1],
    ] as const) {
      const plan = await ofFeed(`events.${name}`, values);
      for (const [table, read] of rowsRead(plan)) assert.ok(read <= readMax, `${name}: ${read} of ${table}`);
      assert.equal(plan['Actual Rows'], found, name);
    }
  });
});
