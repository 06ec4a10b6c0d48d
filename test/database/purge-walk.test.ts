import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type History, PurgeWalk } from '#server/database/purge-walk.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { firstIdAt } from '#server/platform/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { givenDatabase } from '#test/support/database/given-database.ts';

const dayMs = 86_400_000;

describe('the purge walk (specification section 10.9)', () => {
  const { service: database } = givenDatabase();

  it('a page that can’t be read does not stop the purge of a table, which skips the rest of that page’s day', async () => {
    const damaged = { from: firstIdAt(2 * dayMs), to: firstIdAt(3 * dayMs) };
    const isDamaged = (id: string) => id >= damaged.from && id < damaged.to;
    const refuse = () => Promise.reject(Object.assign(new Error('invalid page'), { code: 'XX001' }));
    const old = new Set([1, 3].map((day) => firstIdAt(day * dayMs + 1)));
    const history: History<{ readonly id: string }> = {
      name: 'audit_log',
      findNext: async (_db, from) => {
        const next = [...old].find((id) => id >= from);
        return isDamaged(from) ? refuse() : next;
      },
      lock: async (_trx, range) =>
        isDamaged(range.from)
          ? refuse()
          : [...old].flatMap((id) => (id >= range.from && id < range.to ? { id } : [])),
      remove: async (_trx, rows) => {
        for (const { id } of rows) old.delete(id);
      },
    };
    const services = { database, clock: new Clock(), logger: createLogger('silent') } as Runtime;
    const end = await new PurgeWalk(history).run(services, 5 * dayMs, { budgetMs: 10_000, pauseFactor: 0 });
    assert.equal(end, 'done');
    assert.deepEqual([...old], []);
  });
});
