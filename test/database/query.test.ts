import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { allStatements, query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { givenDatabase } from '#test/support/database/given-database.ts';

const sum = query<{ first: number; second: number }, { total: number }>(
  'test.sum',
  'SELECT :second::int - :first::int + :second::int AS total',
);
const plain = query<{ values: number[] }, { sliced: number[]; matches: boolean; time: string }>(
  'test.plain',
  `SELECT (:values::int[])[1:2] AS sliced, 'abc' ~ '^(?:abc|d)$' AS matches, '10:30'::text AS time`,
);
const none = query<object, { n: number }>('test.none', 'SELECT 1 AS n WHERE false');
const rename = transactionQuery<{ name: string; teamId: TeamId }>(
  'test.rename',
  'UPDATE teams SET name = :name WHERE id = :teamId',
  { changes: 'team', team: ':teamId' },
);

describe('statements with named parameters', () => {
  const { service: database } = givenDatabase();

  it('a named parameter is numbered at its first use, and casts, slices, patterns and times in the SQL are unchanged', async () => {
    assert.equal(allStatements().get('test.sum')?.text, 'SELECT $1::int - $2::int + $1::int AS total');
    assert.deepEqual(await sum.rows(database.pool, { first: 1, second: 5 }), [{ total: 9 }]);
    assert.equal(await sum.number(database.hot, { first: 2, second: 1 }), 0);
    const found = await plain.one(database.pool, { values: [4, 5, 6] });
    assert.deepEqual(found, { sliced: [4, 5], matches: true, time: '10:30' });
  });

  it('a statement that returns no row gives undefined, or throws if a row is required', async () => {
    assert.equal(await none.row(database.pool), undefined);
    assert.deepEqual([await none.number(database.pool), await none.hasRow(database.pool)], [0, false]);
    await assert.rejects(none.one(database.pool), /test\.none returned no row/);
  });

  it('a run without one of the parameters fails before it reaches the database', async () => {
    const given = { first: 1 } as { first: number; second: number };
    await assert.rejects(sum.rows(database.pool, given), /test\.sum was run without its parameter :second/);
  });

  it('a statement that declares a change by a parameter missing from its text is refused when it is defined', () => {
    assert.throws(
      () => query<{ teamId: TeamId }>('test.lost', 'DELETE FROM teams', { changes: 'team', team: ':teamId' }),
      /test\.lost declares a change by :teamId, which is not in its text/,
    );
  });

  it('a statement takes the team of its change from a named parameter', async () => {
    const teamId = randomUUID() as TeamId;
    const noted: unknown[] = [];
    await database.transaction(async (trx) => {
      await trx.query('CREATE TEMPORARY TABLE teams (id uuid, name text) ON COMMIT DROP');
      await trx.query('INSERT INTO teams VALUES ($1, $2)', [teamId, 'old']);
      const recording = {
        query: (config: object) => trx.query(config as { text: string; values: unknown[] }),
        recordChange: (...change: unknown[]) => noted.push(change),
      } as unknown as Transaction;
      assert.equal(await rename.count(recording, { teamId, name: 'new' }), 1);
    });
    assert.deepEqual(noted, [[teamId, 'team', []]]);
  });
});
