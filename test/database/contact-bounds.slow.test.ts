import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type pg from 'pg';
import { contactsMax, type ListContactsQuery } from '#contract/contact.ts';
import { listContacts } from '#server/contacts/list-contacts.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { explainStatements } from '#test/support/database/explain-page.ts';
import { givenFilledDatabase } from '#test/support/database/given-database.ts';
import { rowsRead } from '#test/support/database/plan-node.ts';

const team = '01990000-0000-7000-8000-000000000001' as TeamId;

/** Rows of a page, one more for has_more, and each with two handles. */
const limit = 50;

describe(`pages of ${contactsMax.toLocaleString('en')} contacts (specification section 4.8)`, () => {
  const { service, client } = givenFilledDatabase(fill);

  /** Each contact has a first name that begins with A, one of 500 last names, a phone number and a mail address. */
  async function fill(filler: pg.Client): Promise<void> {
    await filler.query(`
      INSERT INTO teams SELECT '${team}', 'Example team', 'enterprise', 1000000000, to_timestamp(0), 'a1b2';
      CREATE TEMP TABLE made AS SELECT n, ('01990000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id,
        '1415' || lpad((n * 7 % 10000000)::text, 7, '0') AS digits FROM generate_series(1, ${contactsMax}) AS n;
      INSERT INTO contacts (team_id, id, name, created_at, updated_at)
        SELECT '${team}'::uuid, id, 'A' || n % 100 || ' L' || n % 500, to_timestamp(0), to_timestamp(0) FROM made;
      INSERT INTO contact_handles (team_id, contact_id, handle, position)
        SELECT '${team}'::uuid, id, '+' || digits, 0 FROM made UNION ALL
        SELECT '${team}'::uuid, id, 'person' || n || '@example.com', 1 FROM made;
      INSERT INTO contact_words (team_id, contact_id, word)
        SELECT '${team}'::uuid, id, 'a' || n % 100 FROM made UNION ALL SELECT '${team}'::uuid, id, 'l' || n % 500 FROM made UNION ALL
        SELECT '${team}'::uuid, id, '#' || reverse(digits) FROM made;`);
    await filler.query('VACUUM (ANALYZE) contacts, contact_handles, contact_words');
  }

  const plans = (query: ListContactsQuery) =>
    explainStatements(client, service, (services: Runtime) =>
      listContacts(services, team, { limit, ...query }),
    );

  it('a page reads its own contacts, and a query ten times as many, or each word that fits once (§4.8/query)', async () => {
    // More than a page of the newest contacts fits queries with a 0.
    for (const [query, words] of [
      [{}, 0],
      [{ handle: '+14150000007' }, 0],
      [{ query: 'a' }, 0],
      [{ query: 'a l' }, 0],
      [{ query: 'a1 l12' }, contactsMax / 5],
      [{ query: 'a l499' }, contactsMax * 1.01],
      [{ query: '1' }, contactsMax / 10],
      [{ query: 'l499' }, contactsMax / 500],
      [{ query: 'nobody' }, 0],
      [{ query: '+1 415 000 0007' }, 1],
    ] as const) {
      for (const [name, plan] of await plans(query)) {
        const what = `${name} for ${JSON.stringify(query)}: ${JSON.stringify([...rowsRead(plan)])}`;
        const examined = 'query' in query ? 10 * (limit + 1) : limit + 1;
        const bounds = {
          contacts: examined,
          contact_handles: 2 * (limit + 1),
          contact_words: Math.max(words, 2 * examined),
        };
        for (const [table, read] of rowsRead(plan))
          assert.ok(read <= bounds[table as keyof typeof bounds], what);
      }
    }
  });
});
