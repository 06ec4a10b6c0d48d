import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createWriteErrorMapper } from '#server/database/database-errors.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { Clock } from '#server/platform/time/clock.ts';

describe('errors of writes that DATA_DIR explains (specification section 10.4)', () => {
  it('an error of a failed write contains no path, and is unchanged if DATA_DIR is missing', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'ownline-gone-'));
    await rm(dataDir, { recursive: true });
    const explain = createWriteErrorMapper({ databaseUrl: undefined, dataDir }, new Clock());
    const cause = Object.assign(new Error('connect ENOENT'), { code: 'ENOENT' });
    for (const error of [cause, unavailable('The database does not answer.', { cause })]) {
      assert.equal(explain(error), error);
    }
  });
});
