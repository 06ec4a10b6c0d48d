import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Database } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { tableDeclarations } from '#server/database/table-declaration.ts';
import { HistoryPurge } from '#server/operations/history-purge.ts';
import { readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { rowOfEachTable } from '#test/support/backups/row-of-each-table.ts';
import { openBareDatabase } from '#test/support/database/bare-database.ts';
import { given } from '#test/support/service/given.ts';

const yearsMs = 5 * 365 * 86_400_000;

describe('the retention that tables declare (decision 0050)', () => {
  const database = given(openBareDatabase);
  const service = given(
    async () => new Database({ databaseUrl: database.url, logger: createLogger('warn') }),
  );

  it('the purges of retention delete rows from exactly the tables that declare one of the three retention settings', async () => {
    for (const [table, rows] of Object.entries(rowOfEachTable(database.team)))
      for (const row of rows) await database.insert(table, row);
    // Unfinished rows stay, whatever their age.
    for (const sql of [
      "UPDATE messages SET status = 'sent', sent_at = created_at, media_url = 'https://files.example.com/a.png'",
      'DELETE FROM send_queue',
      'DELETE FROM in_flight',
      "UPDATE deliveries SET status = 'failed', finished_at = created_at",
    ])
      await database.pool.query(sql);
    const tables = [...tableDeclarations.keys()].sort();
    const filled = async () => {
      const found: string[] = [];
      for (const name of tables) {
        const { rowCount } = await database.pool.query(`SELECT FROM ${name} LIMIT 1`);
        if (rowCount) found.push(name);
      }
      return found;
    };
    const before = await filled();
    const clock = new Clock();
    clock.advance(yearsMs);
    const config = readConfig({ RETENTION_DAYS: '30', DELIVERY_LOG_DAYS: '7', AUDIT_DAYS: '60' });
    const history = new HistoryPurge({
      database: service,
      clock,
      config,
      logger: createLogger('silent'),
    } as Runtime);
    for (let round = 0; (await history.run()) !== 'done'; round += 1)
      assert.ok(round < 1_000, 'the purge does not end');
    const after = new Set(await filled());
    const declared = tables.filter((name) => tableDeclarations.get(name)?.kept.endsWith('_DAYS'));
    assert.ok(declared.length > 10, declared.join(', '));
    assert.deepEqual(
      before.filter((name) => !after.has(name)),
      declared,
    );
  });
});
