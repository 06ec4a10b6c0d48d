import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type pg from 'pg';
import { directions, type ListMessagesQuery, messageStatuses } from '#contract/message.ts';
import { messagePageExaminedMax } from '#server/messages/limits.ts';
import { listMessages } from '#server/messages/list-messages.ts';
import { messageView } from '#server/messages/message-view.ts';
import { type MessageId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { expectBounded, explainPage, walkPages } from '#test/support/database/explain-page.ts';
import { givenFilledDatabase } from '#test/support/database/given-database.ts';
import { blocks } from '#test/support/database/plan-node.ts';

const total = 1_000_000;
const team = '01990000-0000-7000-8000-000000000001' as TeamId;

/** `big` has nine tenths of the team's messages. The other numbers have few messages, or only old ones. */
const big = '+14155550100';
const small = '+14155550110';
/** The busy contact has 50,000 old messages, and the rare one has ten. 5,000 other contacts have 200 each. */
const busyContact = '+14155550101';
const rareContact = '+14155550103';
const unknown = '+14155550999';

/** Rows that a query may read besides those of its page. */
const beside = 20;

/** Removes parameters without a value, as a query string does. */
const present = (query: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as ListMessagesQuery;

describe('a page of a million messages (decision 0012)', () => {
  const { service, client } = givenFilledDatabase((filler) => withoutIndexes(filler, () => fill(filler)));
  let middle: string;

  before(async () => {
    const { rows } = await client.query<{ id: MessageId }>('SELECT id FROM messages WHERE content = $1', [
      String(total / 2),
    ]);
    middle = rows.map((row) => publicId('msg', row.id)).join();
  });

  /** Runs `work` without the table's indexes, because inserts are faster then, and creates the indexes again. */
  async function withoutIndexes(filler: pg.Client, work: () => Promise<unknown>): Promise<void> {
    const { rows } = await filler.query<{ name: string; definition: string }>(
      `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
       WHERE tablename = 'messages' AND indexname <> 'messages_pkey'`,
    );
    for (const index of rows) await filler.query(`DROP INDEX ${index.name}`);
    await work();
    for (const index of rows) await filler.query(index.definition.replace(' ON ONLY ', ' ON '));
  }

  /** Inserts a million messages of one team over three months. */
  async function fill(filler: pg.Client): Promise<void> {
    await filler.query(`
      INSERT INTO teams SELECT '${team}', 'Example team', 'enterprise', 1000000000, to_timestamp(0), 'a1b2';
      INSERT INTO numbers (team_id, id, phone_number, verified_at, created_at)
        SELECT '${team}', ('01990000-0000-7000-8000-0000000001' || n)::uuid, '+141555501' || n, to_timestamp(0), to_timestamp(0)
        FROM unnest(ARRAY['00', '10', '20', '30', '40', '50']) AS n;
      ALTER TABLE messages DROP CONSTRAINT messages_team_id_number_id_fkey;
      CREATE TEMP TABLE months AS SELECT d, (extract(epoch FROM d) * 1000)::bigint AS ms
        FROM (SELECT date_trunc('month', clock_timestamp()) - interval '45 days' AS d) AS since;
      INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at,
          hand_out_count, sent_at, delivered_at, failed_at, error_code)
        SELECT '${team}', id, number_id, CASE WHEN inbound THEN 'inbound' ELSE 'outbound' END,
          CASE WHEN inbound THEN person ELSE own END, CASE WHEN inbound THEN own ELSE person END, n::text, status,
          to_timestamp(0), CASE WHEN inbound OR status = 'queued' THEN 0 ELSE 1 END,
          CASE WHEN status IN ('sent', 'delivered') THEN to_timestamp(1) END,
          CASE WHEN status = 'delivered' THEN to_timestamp(2) END, CASE WHEN status = 'failed' THEN to_timestamp(1) END,
          CASE WHEN status = 'failed' THEN 'device_error' END
        FROM (
          SELECT n, n % 5 = 0 AS inbound,
            (lpad(to_hex(ms + n::bigint * 4500), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid AS id,
            CASE WHEN n % 10 < 9 THEN '${big}' WHEN n < 200000 THEN '+14155550120' ELSE '${small}' END AS own,
            ('01990000-0000-7000-8000-0000000001' || CASE WHEN n % 10 < 9 THEN '00' WHEN n < 200000 THEN '20' ELSE '10' END)::uuid
              AS number_id,
            CASE WHEN n % 100000 = 7 THEN '${rareContact}' WHEN n BETWEEN 100000 AND 400000 AND n % 6 = 1 THEN '${busyContact}'
              ELSE '+1212555' || lpad((n % 5000)::text, 4, '0') END AS person,
            CASE WHEN n % 5 = 0 THEN 'received' WHEN n > ${total} - 30000 THEN 'queued'
              WHEN n BETWEEN 300000 AND 350000 THEN 'failed' WHEN n IN (1, 33, 955556) THEN 'delivered' ELSE 'sent' END AS status
          FROM months, generate_series(1, ${total}) AS n
        ) AS made;
      INSERT INTO send_queue (team_id, message_id, number_id, to_handle, queued_at)
        SELECT team_id, id, number_id, to_handle, to_timestamp(0) FROM messages WHERE status = 'queued' ORDER BY id;`);
  }

  const explained = (query: ListMessagesQuery) =>
    explainPage(client, service, (services) => listMessages(services, team, query, messageView));

  /** Each combination of filters, from the newest message and from the middle. */
  function* queries(): Generator<ListMessagesQuery> {
    for (const from of [undefined, big, small, busyContact, unknown]) {
      for (const to of [undefined, big, busyContact, rareContact]) {
        for (const status of [undefined, ...messageStatuses]) {
          for (const direction of [undefined, ...directions]) {
            if (status !== undefined && direction !== undefined) continue;
            for (const cursor of [undefined, middle]) {
              yield { ...present({ from, to, status, direction, cursor }), limit: 50 };
            }
          }
        }
      }
    }
  }

  async function assertBounded(mode: 'auto' | 'force_generic_plan'): Promise<void> {
    await client.query(`SET plan_cache_mode = ${mode}`);
    assert.equal(await expectBounded(queries(), explained, messagePageExaminedMax, beside), 360);
  }

  const bounded = `reads at most ${messagePageExaminedMax.toLocaleString('en')} rows for every combination of filters`;

  it(`a page of messages ${bounded}, before ANALYZE`, () => assertBounded('force_generic_plan'));

  it(`a page of messages ${bounded}, after ANALYZE, with a generic plan`, async () => {
    await client.query('ANALYZE');
    await assertBounded('force_generic_plan');
  });

  it(`a page of messages ${bounded}, after ANALYZE, with a custom plan (§4.3/pages)`, () =>
    assertBounded('auto'));

  it('a page reads as many rows as it shows if every message matches', async () => {
    const filters: readonly ListMessagesQuery[] = [
      {},
      { from: big },
      { to: big },
      { status: 'failed' },
      { status: 'queued' },
      { status: 'received' },
      { direction: 'inbound' },
    ];
    for (const limit of [1, 50, 100])
      await expectBounded(filters, (query) => explained({ ...query, limit }), limit, 1 + beside);
  });

  it('page 1,000 reads at most twice as many blocks as page 1', async () => {
    const ways: [ListMessagesQuery, string][] = [
      [{}, ''],
      [{ from: big }, `AND from_handle = '${big}'`],
      [{ to: big }, `AND to_handle = '${big}'`],
      [{ status: 'received' }, `AND status = 'received'`],
      [{ status: 'queued' }, `AND status = 'queued'`],
      [{ status: 'failed' }, `AND status = 'failed'`],
    ];
    for (const [query, condition] of ways) {
      const limit = query.status === 'queued' || query.status === 'failed' ? 20 : 100;
      const { rows } = await service.pool.query<{ id: MessageId }>(
        `SELECT id FROM messages WHERE team_id = $1 ${condition} ORDER BY id DESC OFFSET ${999 * limit - 1} LIMIT 1`,
        [team],
      );
      const [last] = rows;
      assert.ok(last, condition);
      const page = (cursor: string) => explained({ ...query, limit, cursor });
      await page('');
      const first = blocks(await page(''));
      const thousandth = blocks(await page(publicId('msg', last.id)));
      assert.ok(thousandth <= 2 * first, `${condition}: ${first} blocks, then ${thousandth}`);
    }
  });

  it('short and empty pages lead to every match: 3 delivered of a million messages (§4.3/pages)', async () => {
    for (const filters of [{ status: 'delivered' }, { from: big, status: 'delivered' }] as const) {
      const { rows, empty } = await walkPages(
        (cursor) => listMessages({ database: service }, team, { ...filters, cursor }, messageView),
        (page) => page.messages,
        total / messagePageExaminedMax,
      );
      const found = rows.map(({ content }) => content);
      assert.deepEqual(found, ['955556', '33', '1']);
      assert.ok(empty > 50, `${empty}`);
    }
  });

  it('the cursor of a full page is its last message, and of a short page the last examined message (§4.3/pages)', async () => {
    const full = await listMessages(
      { database: service },
      team,
      { status: 'failed', from: big, limit: 100 },
      messageView,
    );
    assert.equal(full.messages.length, 100);
    assert.deepEqual([full.cursor, full.has_more], [full.messages.at(-1)?.id, true]);
    const short = await listMessages({ database: service }, team, { status: 'delivered' }, messageView);
    const { rows } = await service.pool.query<{ id: MessageId }>(
      `SELECT id FROM messages WHERE team_id = $1 ORDER BY id DESC OFFSET ${messagePageExaminedMax - 1} LIMIT 1`,
      [team],
    );
    assert.deepEqual(short, {
      messages: [],
      cursor: rows.map((row) => publicId('msg', row.id)).join(),
      has_more: true,
    });
  });
});
