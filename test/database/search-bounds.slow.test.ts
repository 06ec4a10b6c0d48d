import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type pg from 'pg';
import type { Runtime } from '#server/database/runtime.ts';
import { searchMessagesMax, segmentsExaminedMax } from '#server/messages/search/limits.ts';
import { parseSearch } from '#server/messages/search/parse-search.ts';
import { searchMessages } from '#server/messages/search/search-messages.ts';
import { segmentMessagesMax, takeSegment } from '#server/messages/search/segment-signature.ts';
import { publicId, type TeamId } from '#server/platform/ids.ts';
import { explainStatements } from '#test/support/database/explain-page.ts';
import { givenFilledDatabase } from '#test/support/database/given-database.ts';
import { rowsRead } from '#test/support/database/plan-node.ts';

const segments = 12_000;
/** Messages of a segment here, and messages after the last one. */
const [ofSegment, unsigned] = [10, 20_000];
const signed = segments * ofSegment;
const team = '01990000-0000-7000-8000-000000000001' as TeamId;
const otherTeam = '01990000-0000-7000-8000-000000000002' as TeamId;

/** Rows of messages that a page reads besides those that it examines: its matches, and the rest of a segment. */
const beside = 101 + segmentMessagesMax;

describe(`searches of ${(signed + unsigned).toLocaleString('en')} messages (decisions 0012 and 0061)`, () => {
  const { service, client } = givenFilledDatabase(fill);

  /** Two teams in turn have messages with one word; every thousandth segment has another signature. */
  async function fill(filler: pg.Client): Promise<void> {
    const [usual, rare] = ['hello', 'zanzibar'].map(
      (content) => takeSegment([{ content, handle: '+14155550101' }]).signature,
    );
    await filler.query(`
      INSERT INTO teams SELECT '${team}', 'Example team', 'enterprise', 1000000000, to_timestamp(0), 'a1b2';
      INSERT INTO teams SELECT '${otherTeam}', 'Other team', 'enterprise', 1000000000, to_timestamp(0), 'b2c3';
      ALTER TABLE messages DROP CONSTRAINT messages_team_id_number_id_fkey;
      CREATE TEMP TABLE made AS SELECT n, t.team_id, (lpad(to_hex(1700000000000 + n::bigint * 1000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid AS id
        FROM generate_series(1, ${signed + unsigned}) AS n, (VALUES ('${team}'::uuid), ('${otherTeam}')) AS t (team_id);
      INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at)
        SELECT team_id, id, id, 'inbound', '+14155550101', '+14155550100', 'Hello', 'received', to_timestamp(0) FROM made`);
    await filler.query(
      `INSERT INTO message_segments (team_id, first_id, last_id, signature)
       SELECT a.team_id, a.id, b.id, CASE WHEN a.n % 10000 = 1 THEN $2::bytea ELSE $1::bytea END
       FROM made a JOIN made b ON b.team_id = a.team_id AND b.n = a.n + ${ofSegment - 1}
       WHERE a.n % ${ofSegment} = 1 AND a.n < ${signed}`,
      [usual, rare],
    );
  }

  async function assertBounded(): Promise<void> {
    const { rows } = await service.pool.query<{ id: never }>(
      'SELECT last_id AS id FROM message_segments WHERE team_id = $1 ORDER BY last_id DESC',
      [team],
    );
    const cursors = [
      '',
      ...[0, 100, segments / 2, segments - 5].map((n) => publicId('msg', rows.at(n)?.id ?? ('' as never))),
    ];
    let most = 0;
    for (const q of ['hello', 'hello zanzibar', 'zanzibar', 'absent', '0101', '0199', '0101 zanzibar'])
      for (const cursor of cursors) {
        const plans = await explainStatements(client, service, (services) =>
          searchMessages(services as Runtime, team, parseSearch(q), { limit: 100, cursor }),
        );
        for (const [name, plan] of plans)
          for (const [table, read] of rowsRead(plan)) {
            const max = table === 'messages' ? segmentMessagesMax : segmentsExaminedMax + 2;
            assert.ok(read <= max, `${q}, ${cursor}: ${name} reads ${read} of ${table}`);
            if (table === 'message_segments') most = Math.max(most, read);
          }
      }
    assert.ok(most >= segmentsExaminedMax, `${most}`);
  }

  it('each statement of a search reads a bounded number of rows before ANALYZE (§4.3/search)', assertBounded);

  it('each statement of a search reads a bounded number of rows after ANALYZE (§4.3/search)', async () => {
    await client.query('ANALYZE');
    await assertBounded();
  });

  it('a page reads 5,000 messages, and a few more, whatever it is for (§4.3/search)', async () => {
    for (const q of ['hello zanzibar', 'absent', '0199']) {
      let read = 0;
      const counting = {
        query: async (statement: pg.QueryConfig) => {
          const result = await service.pages.query(statement);
          if (statement.name === 'search.messages') read += result.rows.length;
          return result;
        },
      };
      const services = { database: { pages: counting } } as unknown as Runtime;
      const { has_more } = await searchMessages(services, team, parseSearch(q), { limit: 100 });
      assert.ok(has_more && read >= searchMessagesMax && read <= searchMessagesMax + beside, `${q}: ${read}`);
    }
  });
});
