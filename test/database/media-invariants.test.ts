import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { Ids } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/service/test-database.ts';

const clock = new Clock();
const ids = new Ids(clock);
const at = clock.now();
const complete = { is_complete: true, size_bytes: 1, sha256: Buffer.alloc(32) };

/** Rows that the schema refuses from every writer (docs/architecture.md). */
describe('the invariants of media', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  const team = ids.next('team');

  before(async () => {
    database = await createTestDatabase();
    pool = new pg.Pool({ connectionString: database.url, max: 1 });
    await pool.query(`INSERT INTO teams VALUES ($1, 'Example team', 'pro', 100, $2)`, [team, at]);
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });

  async function insert(table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
    const names = Object.keys(row);
    await pool.query(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((_, n) => `$${n + 1}`).join(', ')})`,
      Object.values(row),
    );
  }
  const file = (columns: Readonly<Record<string, unknown>> = {}) =>
    insert('media', {
      message_id: ids.next('msg'),
      team_id: team,
      name: 'menu.jpg',
      type: 'image/jpeg',
      created_at: at,
      ...columns,
    });
  const refused = (writing: Promise<unknown>, constraint: RegExp) =>
    assert.rejects(writing, (error: { constraint?: string }) => constraint.test(error.constraint ?? ''));

  it('a message has one complete file at most, and any number of incomplete ones', async () => {
    const message_id = ids.next('msg');
    await file({ message_id });
    await file({ message_id });
    await file({ message_id, ...complete });
    await refused(file({ message_id, ...complete }), /message_id_idx|one_complete/);
  });

  it('a complete file has its size and hash, and only a complete one', async () => {
    await refused(file({ is_complete: true }), /complete_has_size/);
    await refused(file({ ...complete, sha256: null }), /complete_has_size/);
    await refused(file({ size_bytes: 1 }), /complete_has_size/);
    await refused(file({ ...complete, size_bytes: 5 * 1_024 * 1_024 + 1 }), /size_bytes/);
    await refused(file({ ...complete, size_bytes: 0 }), /size_bytes/);
  });

  it('a name needs no escape in a path or a header', async () => {
    for (const name of ['', 'a/b.jpg', 'a b.jpg', 'a"b.jpg', 'a\nb.jpg', '\u00fc.jpg', 'a'.repeat(101)])
      await refused(file({ name }), /name/);
  });

  it('a chunk has 1 byte to 256 KiB, and a file each of its chunks once', async () => {
    const chunk = (data: Buffer, position = 0) =>
      insert('media_chunks', { message_id: message, file_id: 1, position, data });
    const message = ids.next('msg');
    await chunk(Buffer.alloc(256 * 1_024));
    await refused(chunk(Buffer.alloc(1)), /pkey/);
    await refused(chunk(Buffer.alloc(0), 1), /data/);
    await refused(chunk(Buffer.alloc(256 * 1_024 + 1), 1), /data/);
    await refused(chunk(Buffer.alloc(1), -1), /position/);
  });
});
