import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { beforeEach, describe, it } from 'node:test';
import { BackupError, ExistingFileError } from '#server/backups/archive/backup-error.ts';
import { writeNewFile } from '#server/backups/archive/backup-file.ts';
import { givenFolder } from '#test/support/service/given.ts';

describe('the writing of a backup file (specification section 10.10)', () => {
  const folder = givenFolder('ownline-backup-file-');
  let path: string;
  let files = 0;

  beforeEach(() => {
    files += 1;
    path = join(folder, `${files}.backup`);
  });

  const put = (destination: Writable, text: string) =>
    new Promise<void>((resolve, reject) =>
      destination.write(Buffer.from(text), (error) => (error ? reject(error) : resolve())),
    );
  /** A backup that stays in progress until `end` is called. */
  const begin = async (text: string) => {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const written = writeNewFile(path, async (destination) => {
      begun.resolve();
      await ended.promise;
      await put(destination, text);
    });
    written.catch(() => undefined);
    await begun.promise;
    return { written, end: ended.resolve, fail: ended.reject };
  };
  const partials = async () => (await readdir(folder)).filter((name) => name.endsWith('.partial'));

  it('a failing backup does not touch the file of another backup with the same name (§10.10/complete-or-absent)', async () => {
    const first = await begin('first');
    const second = await begin('second');
    second.fail(new Error('another backup runs'));
    await assert.rejects(second.written, /another backup runs/);
    first.end();
    await first.written;
    assert.equal(await readFile(path, 'utf8'), 'first');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(await partials(), []);
  });

  it('a backup into a folder that is missing or is a file fails with the advice to make the folder', async () => {
    await writeFile(path, 'a file');
    for (const none of [join(folder, 'none'), path]) {
      const written = writeNewFile(join(none, 'a.backup'), async () => undefined);
      await assert.rejects(written, (error: Error) => {
        const { message } = error;
        const end = `: there is no folder ${none}. Make it, or choose another path. No partial file remains.`;
        assert.ok(error instanceof BackupError && message.endsWith(end), message);
        return true;
      });
    }
  });

  it('only the first of two backups to one file name succeeds (§10.10/complete-or-absent)', async () => {
    const first = await begin('first');
    const second = await begin('second');
    first.end();
    await first.written;
    assert.equal(await readFile(path, 'utf8'), 'first');
    second.end();
    await assert.rejects(second.written, ExistingFileError);
    assert.equal(await readFile(path, 'utf8'), 'first');
    assert.deepEqual(await partials(), []);
  });
});
