import assert from 'node:assert/strict';
import pg from 'pg';
import { Ids } from '#server/platform/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { createTestDatabase } from './test-database.ts';

/** A database with one team and no service, for tests of rows that the schema refuses. */
export async function openBareDatabase() {
  const database = await createTestDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const clock = new Clock();
  const team = new Ids(clock).next('team');
  await pool.query(
    `INSERT INTO teams VALUES ($1, 'Example team', 'pro', 100, $2, substr(gen_random_uuid()::text, 1, 4))`,
    [team, clock.now()],
  );
  return {
    url: database.url,
    pool,
    team,
    insert: async (table: string, row: Readonly<Record<string, unknown>>) => {
      const names = Object.keys(row);
      const places = names.map((_, index) => `$${index + 1}`);
      await pool.query(
        `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`,
        Object.values(row),
      );
    },
    close: async () => {
      await pool.end();
      await database.close();
    },
  };
}

/** Asserts that the database refuses the row. @param refusal matches the code of the error and its constraint or text */
export function assertConstraint(writing: Promise<unknown>, refusal: RegExp, what = ''): Promise<void> {
  return assert.rejects(writing, (error: unknown) => {
    assert.ok(error instanceof pg.DatabaseError, String(error));
    const refused = `${error.code} ${error.constraint ?? error.message}`;
    assert.ok(refusal.test(refused), `${what} ${refused} does not match ${refusal}`);
    return true;
  });
}
