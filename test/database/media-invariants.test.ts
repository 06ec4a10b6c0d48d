import { describe, it } from 'node:test';
import { Ids } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { assertConstraint, openBareDatabase } from '#test/support/database/bare-database.ts';
import { given } from '#test/support/service/given.ts';

const clock = new Clock();
const ids = new Ids(clock);
const at = clock.now();
const complete = { is_complete: true, size_bytes: 1, sha256: Buffer.alloc(32) };

/** Rows that the schema refuses from every writer (docs/architecture.md). */
describe('the invariants of media', () => {
  const database = given(openBareDatabase);

  const file = (columns: Readonly<Record<string, unknown>> = {}) =>
    database.insert('media', {
      message_id: ids.next('msg'),
      team_id: database.team,
      name: 'menu.jpg',
      type: 'image/jpeg',
      created_at: at,
      ...columns,
    });
  it('the schema refuses a message’s second complete file, and allows several incomplete ones', async () => {
    const message_id = ids.next('msg');
    await file({ message_id });
    await file({ message_id });
    await file({ message_id, ...complete });
    await assertConstraint(file({ message_id, ...complete }), /message_id_idx|one_complete/);
  });

  it('the schema requires size and hash exactly for complete files', async () => {
    await assertConstraint(file({ is_complete: true }), /complete_has_size/);
    await assertConstraint(file({ ...complete, sha256: null }), /complete_has_size/);
    await assertConstraint(file({ size_bytes: 1 }), /complete_has_size/);
    await assertConstraint(file({ ...complete, size_bytes: 5 * 1_024 * 1_024 + 1 }), /size_bytes/);
    await assertConstraint(file({ ...complete, size_bytes: 0 }), /size_bytes/);
  });

  it('the schema refuses a file name that needs escaping in a path or a header', async () => {
    for (const name of ['', 'a/b.jpg', 'a b.jpg', 'a"b.jpg', 'a\nb.jpg', '\u00fc.jpg', 'a'.repeat(101)])
      await assertConstraint(file({ name }), /name/);
  });

  it('the schema refuses a chunk without bytes or above 256 KiB, and a file’s chunk that comes twice', async () => {
    const chunk = (data: Buffer, position = 0) =>
      database.insert('media_chunks', {
        team_id: database.team,
        message_id: message,
        file_id: 1,
        position,
        data,
      });
    const message = ids.next('msg');
    await file({ message_id: message, file_id: 1 });
    await chunk(Buffer.alloc(256 * 1_024));
    await assertConstraint(chunk(Buffer.alloc(1)), /pkey/);
    await assertConstraint(chunk(Buffer.alloc(0), 1), /data/);
    await assertConstraint(chunk(Buffer.alloc(256 * 1_024 + 1), 1), /data/);
    await assertConstraint(chunk(Buffer.alloc(1), -1), /position/);
  });
});
