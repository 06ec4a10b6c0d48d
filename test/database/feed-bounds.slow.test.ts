import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allStatements } from '#server/database/statement.ts';
import '#server/events/feed-store.ts';
import { firstIdAt, idMax } from '#server/platform/ids/ids.ts';
import { explain } from '#test/support/database/explain-page.ts';
import { givenFilledDatabase } from '#test/support/database/given-database.ts';
import { blocks, rowsRead } from '#test/support/database/plan-node.ts';

const total = 200_000;
const team = '01990000-0000-7000-8000-000000000001';
const other = '01990000-0000-7000-8000-000000000002';

const idMin = firstIdAt(0);

/** Rows that a query may read besides those of its page. */
const beside = 2;

describe(`a page of the feed at ${total.toLocaleString('en')} events (specification section 4.5)`, () => {
  // Inserts events of two teams in turn, over two months. Some ids and positions differ in order, as after late
  // commits.
  const { client } = givenFilledDatabase((filler) =>
    filler.query(`
      INSERT INTO teams SELECT id::uuid, 'Example team', 'enterprise', 1000000000, to_timestamp(0), substr(gen_random_uuid()::text, 1, 4) FROM unnest(ARRAY['${team}', '${other}']) AS id;
      CREATE TEMP TABLE made AS SELECT n, CASE WHEN n % 2 = 0 THEN '${team}' ELSE '${other}' END::uuid AS team_id,
        (lpad(to_hex(ms + (n # 6)::bigint * 15000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid AS id
        FROM (SELECT (extract(epoch FROM date_trunc('month', clock_timestamp()) - interval '20 days') * 1000)::bigint AS ms) AS since,
          generate_series(1, ${2 * total}) AS n;
      INSERT INTO events (team_id, id, type, number_id, sequence, data, created_at)
        SELECT team_id, id, 'number.online', id, 1, '{}', to_timestamp(0) FROM made;
      INSERT INTO event_feed (team_id, event_id) SELECT team_id, id FROM made ORDER BY n;`),
  );

  const explained = (name: string, values: readonly (string | number)[]) =>
    explain(client, { text: allStatements().get(name)?.text ?? '', values });

  async function assertBounded(): Promise<void> {
    for (const limit of [2, 51, 101]) {
      const page = (position: number) => explained('events.feed-page', [team, position, limit]);
      await page(0);
      const first = blocks(await page(0));
      for (const position of [0, total, 2 * total - 400]) {
        const plan = await page(position);
        for (const [table, read] of rowsRead(plan))
          assert.ok(read <= limit + beside, `${limit} after ${position}: ${read} of ${table}`);
        assert.ok(
          blocks(plan) <= 2 * first,
          `${limit} after ${position}: ${blocks(plan)} blocks, first ${first}`,
        );
      }
      assert.equal((await page(0))['Actual Rows'], limit);
    }
  }

  it('a page reads only the events that it returns, from any position, before ANALYZE', assertBounded);

  it('a page reads only the events that it returns, from any position, after ANALYZE', async () => {
    await client.query('ANALYZE');
    await assertBounded();
  });

  it('the position of an unknown event is found by reading a bounded number of rows, also behind a gap', async () => {
    await client.query(`INSERT INTO feed_removals VALUES ('${team}', ${total}, NULL) ON CONFLICT DO NOTHING`);
    const { rows } = await client.query<{ id: string }>(
      `SELECT event_id AS id FROM event_feed WHERE team_id = $1 AND position IN (
         SELECT position FROM event_feed WHERE team_id = $1 ORDER BY position LIMIT 1 OFFSET ${total - 20})`,
      [other],
    );
    for (const id of [idMin, rows.map((row) => row.id).join(), idMax]) {
      const plan = await explained('events.estimate-position', [team, id, 1_000]);
      for (const [table, read] of rowsRead(plan)) assert.ok(read <= 1_001, `${read} of ${table}`);
      assert.equal(plan['Actual Rows'], id === idMin ? 0 : 1);
    }
  });

  it('the position of an event is found by reading one row', async () => {
    const { rows } = await client.query<{ event_id: string }>(
      'SELECT event_id FROM event_feed WHERE team_id = $1 AND position > $2 ORDER BY position LIMIT 1',
      [team, total],
    );
    const plan = await explained('events.find-position', [team, rows.map((row) => row.event_id).join()]);
    for (const [table, read] of rowsRead(plan)) assert.ok(read <= 1, `${read} of ${table}`);
    assert.equal(plan['Actual Rows'], 1);
  });
});
