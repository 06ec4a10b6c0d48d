import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readDatabaseContent } from '#test/support/database/database-content.ts';
import { createEmptyDatabase } from '#test/support/database/test-database.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { givenFolder } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

const chunkBytes = 262_144;
const chunks = 500;
/**
 * Upper bound on the growth of memory, below the size of the data. It allows for buffers, the window of zstd and
 * uncollected garbage; 57 to 76 MB were measured.
 */
const growthMaxMb = 120;

describe('the memory of a backup and of a restore (specification section 10.10)', {
  skip: process.platform !== 'linux' && 'only Linux shows the peak of a process',
}, () => {
  const service = givenService({ ROLES: 'api' });
  const folder = givenFolder('ownline-backup-memory-');

  /** Runs a command. @returns the peak of its resident memory, in megabytes */
  const peakOf = async (settings: Readonly<Record<string, string>>, ...words: readonly string[]) => {
    const { child, ended } = new CommandLine(service.dataDir, settings).start(words);
    let peakMb = 0;
    const look = setInterval(() => {
      const status = (() => {
        try {
          return readFileSync(`/proc/${child.pid}/status`, 'utf8');
        } catch {
          return '';
        }
      })();
      peakMb = Math.max(peakMb, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024);
    }, 20);
    const { code, errors } = await ended;
    clearInterval(look);
    assert.equal(code, 0, errors);
    return peakMb;
  };

  it('a restore restores each of 500 chunks of media, and the memory of backup and restore does not grow with the data', async (context) => {
    const source = { DATABASE_URL: service.databaseUrl };
    const small = join(folder, 'small.backup');
    const large = join(folder, 'large.backup');
    const smallMb = await peakOf(source, 'backup', small);
    const [team] = await service.query<{ id: string }>('SELECT id FROM teams LIMIT 1');
    const id = service.runtime.ids.next('msg');
    await service.query(
      `INSERT INTO media (message_id, file_id, team_id, name, type, created_at) VALUES ($1, 7, $2, 'a.mov', 'video/quicktime', $3)`,
      [id, team?.id, service.clock.now()],
    );
    for (let position = 0; position < chunks; position += 1)
      await service.query('INSERT INTO media_chunks VALUES ($1, $2, 7, $3, $4)', [
        team?.id,
        id,
        position,
        randomBytes(chunkBytes),
      ]);
    const largeMb = await peakOf(source, 'backup', large);
    assert.ok((await stat(large)).size > 0.9 * chunks * chunkBytes);
    const target = await createEmptyDatabase();
    const data = { DATABASE_URL: target.url, DATA_DIR: join(folder, 'data') };
    const restoreMb = await peakOf(data, 'restore', large);
    const chunksOf = async (databaseUrl: string) => (await readDatabaseContent(databaseUrl)).media_chunks;
    const [before, after] = [await chunksOf(service.databaseUrl), await chunksOf(target.url)];
    await target.close();
    assert.match(before ?? '', new RegExp(`^${chunks} `));
    assert.equal(after, before);
    const figures = [smallMb, largeMb, restoreMb].map((mb) => `${mb.toFixed(0)} MB`).join(', ');
    context.diagnostic(`peaks of a small backup, a large one and its restore: ${figures}`);
    for (const peakMb of [largeMb, restoreMb]) assert.ok(peakMb - smallMb < growthMaxMb, figures);
  });
});
