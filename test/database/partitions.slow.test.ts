import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { backupLock, excludeBackups } from '#server/database/backup-lock.ts';
import { dropMonthPartition, ensurePartitions } from '#server/database/partitions.ts';
import { monthOf } from '#server/platform/time/calendar.ts';
import { holdTransaction } from '#test/support/database/held-transaction.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

const from = '+14155550100';
const to = '+14155550101';
const histories = ['messages', 'hand_outs', 'events'];

describe('month partitions of history (decision 0004, specification section 1)', () => {
  const { service, team } = givenTeam();
  const number = given(() => connectNumber(service, team, from));

  const month = (ahead: number) => {
    const now = service.clock.now();
    return monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)));
  };
  const tableOf = (history: string, ahead: number) =>
    `${history}_${month(ahead).slice(0, 7).replace('-', '_')}`;
  /** Drops the partitions of the month that is `ahead` months from now, as if they had not been created in time. */
  const forgetMonth = async (ahead: number) => {
    for (const history of histories) await service.query(`DROP TABLE ${tableOf(history, ahead)}`);
  };
  const places = async () => {
    const rows = await service.query<{ place: string }>(
      histories
        .map((history) => `SELECT DISTINCT tableoid::regclass::text AS place FROM ${history}`)
        .join(' UNION '),
    );
    return rows.map((row) => row.place).sort();
  };
  const exist = async (...tables: string[]) => {
    const rows = await service.query<{ found: boolean }>(
      'SELECT to_regclass(name) IS NOT NULL AS found FROM unnest($1::text[]) AS name',
      [tables],
    );
    return rows.map((row) => row.found);
  };
  /** Creates missing partitions. @returns the log lines */
  const ensure = async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    await ensurePartitions(service.runtime.database.pool, service.clock, logger);
    return lines;
  };
  const connectBeside = async () => {
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    return client;
  };

  it('a month that was missing gets its rows at the next start, and no row is lost', async () => {
    await forgetMonth(0);
    const ids: string[] = [];
    for (const content of ['sent', 'polling', 'queued']) ids.push(await team.api.send({ from, to, content }));
    const [sent, polling, queued] = ids;
    assert.equal((await number.wire.poll()).id, sent);
    assert.equal((await number.wire.poll({ last: String(sent) })).id, polling);
    assert.deepEqual(await places(), ['events_default', 'hand_outs_default', 'messages_default']);
    const list = (await team.api.get('/v1/messages')).json;

    const another = await service.startAnother();
    try {
      assert.deepEqual(await places(), histories.map((history) => tableOf(history, 0)).sort());
      assert.deepEqual((await team.api.get('/v1/messages')).json, list);
      assert.equal((await team.api.post(`/v1/messages/${queued}/cancel`)).json.status, 'failed');
      assert.equal((await number.wire.poll({ last: String(polling) })).action, 'idle');
      assert.equal((await team.api.get(`/v1/messages/${polling}`)).json.status, 'sent');
      const later = await team.api.send({ from, to, content: 'later' });
      assert.equal((await number.wire.poll()).id, later);
      await number.wire.poll({ last: later });
      assert.deepEqual(await places(), histories.map((history) => tableOf(history, 0)).sort());
    } finally {
      await another.close();
    }
  });

  it('each month has the keys, checks, triggers and indexes of its table, even one that took rows over', async () => {
    const described = async (table: string) => {
      const rows = await service.query<{ said: string }>(
        // A migration may add a check as NOT VALID. Partitions of later months have the same check as valid.
        `SELECT 'check ' || replace(pg_get_constraintdef(oid), ' NOT VALID', '') AS said FROM pg_constraint
           WHERE conrelid = $1::regclass AND contype <> 'n'
         UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal
         UNION ALL SELECT 'column ' || attname || attnotnull || format_type(atttypid, atttypmod) FROM pg_attribute
           WHERE attrelid = $1::regclass AND attnum > 0
         UNION ALL SELECT 'default ' || pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = $1::regclass
         UNION ALL SELECT 'index ' || substring(indexdef from 'USING.*') FROM pg_indexes
           WHERE tablename = $1::regclass::text
         ORDER BY said`,
        [table],
      );
      return rows.map((row) => row.said);
    };
    for (const history of histories) {
      const whole = await described(history);
      assert.ok(whole.length > 10, history);
      for (const ahead of [-1, 0, 1, 2])
        assert.deepEqual(await described(tableOf(history, ahead)), whole, tableOf(history, ahead));
    }
  });

  it('partitions of deliveries leave room on each page for the update that ends a delivery (decision 0036)', async () => {
    service.clock.advance(40 * 86_400_000);
    await ensure();
    const rows = await service.query<{ options: string[] | null }>(
      `SELECT c.reloptions AS options FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = 'deliveries'::regclass`,
    );
    assert.ok(rows.length > 5, String(rows.length));
    for (const { options } of rows) assert.deepEqual(options, ['fillfactor=80']);
  });

  it('no month is created or dropped while a backup runs', async () => {
    await forgetMonth(2);
    const tables = histories.map((history) => tableOf(history, 2));
    const pool = service.runtime.database.pool;
    const backup = await holdTransaction(service, 'SELECT pg_advisory_xact_lock($1)', [backupLock]);
    assert.match((await ensure()).join(), /a backup runs/);
    assert.equal(await dropMonthPartition(pool, 'attempts', month(2)), false);
    assert.deepEqual(await exist(...tables, tableOf('attempts', 2)), [false, false, false, true]);
    assert.equal(await service.runtime.database.transaction(excludeBackups), false);
    await backup.release();
    assert.equal(await service.runtime.database.transaction(excludeBackups), true);
    assert.equal(await dropMonthPartition(pool, 'attempts', month(2)), true);
    assert.deepEqual(await exist(tableOf('attempts', 2)), [false]);
    await ensure();
    assert.deepEqual(await exist(...tables), [true, true, true]);
  });

  it('a month that can’t be created is logged and retried, and the start of the service continues', async () => {
    await forgetMonth(2);
    const reader = await connectBeside();
    await reader.query('BEGIN');
    await reader.query('LOCK TABLE messages_default IN ACCESS SHARE MODE');
    const tables = histories.map((history) => tableOf(history, 2));
    const lines = await ensure();
    assert.equal(lines.length, 1, lines.join('\n'));
    const { level, err, history, month: logged } = JSON.parse(lines[0] ?? '');
    assert.deepEqual([level, err.code, history, logged], [50, '55P03', 'messages', month(2)]);
    assert.deepEqual(await exist(...tables), [false, true, true]);

    const another = await service.startAnother();
    assert.equal((await fetch(`${another.baseUrl}/readyz`)).status, 200);
    await another.close();
    await reader.query('COMMIT');
    await reader.end();
    assert.deepEqual(await ensure(), []);
    assert.deepEqual(await exist(...tables), [true, true, true]);
  });

  it('a month with too many rows to move at once is left to the operator, with instructions in the log', async () => {
    await forgetMonth(0);
    for (const content of ['one', 'two']) await team.api.send({ from, to, content });
    const make = (most: number) =>
      service.query('SELECT make_partition($1, $2::date, $3)', ['messages', month(0), most]);
    await assert.rejects(
      make(1),
      new RegExp(
        `messages_default holds more than 1 rows of .*SELECT make_partition\\('messages', '${month(0)}', `,
      ),
    );
    assert.deepEqual(await exist(tableOf('messages', 0)), [false]);
    await make(2);
    assert.deepEqual(await exist(tableOf('messages', 0)), [true]);
    assert.deepEqual(await ensure(), []);
    assert.deepEqual(await service.query('SELECT FROM messages_default'), []);
  });

  it('creating a month does not deadlock with a transaction that updates a number and then reads messages', async () => {
    await forgetMonth(2);
    const writer = await connectBeside();
    await writer.query('BEGIN');
    await writer.query('UPDATE numbers SET label = label');
    const ensuring = ensure();
    await until('the making waits', async () => {
      const { rows } = await writer.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    await writer.query('SELECT count(*) FROM messages');
    await writer.query('COMMIT');
    await writer.end();
    assert.deepEqual(await ensuring, []);
    assert.deepEqual(await exist(tableOf('messages', 2)), [true]);
  });

  it('one of several simultaneous starts creates a month, while sends continue', async () => {
    await forgetMonth(0);
    await team.api.send({ from, to, content: 'moved once' });
    const sending = Array.from({ length: 200 }, (_, n) => team.api.send({ from, to, content: `${n}` }));
    assert.deepEqual((await Promise.all([ensure(), ensure(), ensure()])).flat(), []);
    const ids = await Promise.all(sending);
    assert.deepEqual(await service.query('SELECT FROM messages_default'), []);
    const listed = (await team.api.get('/v1/messages?limit=100')).json.messages as { id: string }[];
    assert.ok(listed.every((message) => ids.includes(message.id)));
    assert.equal(listed.length, 100);
    assert.equal(new Set(ids).size, 200);
  });
});
