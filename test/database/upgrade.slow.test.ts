import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { Database } from '#server/database/database.ts';
import { migrate } from '#server/database/migrate.ts';
import type { Transaction } from '#server/database/statement.ts';
import { FeedPollRegistry } from '#server/events/feed-poll-registry.ts';
import { type FeedReader, listEvents } from '#server/events/list-events.ts';
import { publishEvents } from '#server/events/publish-events.ts';
import { Ids, publicId } from '#server/platform/ids/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { refundMessages } from '#server/usage/usage-store.ts';

const engineUrl = process.env.TEST_ENGINE_URL ?? '';
const ids = new Ids(new Clock());

describe('an upgrade of a database that has messages (decision 0003)', () => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const url = engineUrl.replace('/ownline?', `/${name}?`);
  const team = ids.next('team');
  let administrator: pg.Client;
  let client: pg.Client;

  before(async () => {
    administrator = new pg.Client({ connectionString: engineUrl.replace('/ownline?', '/postgres?') });
    await administrator.connect();
    await administrator.query(`CREATE DATABASE ${name}`);
    await migrate(url, { upTo: '001' });
    // As somebody may have set it: days are of UTC all the same.
    await administrator.query(`ALTER DATABASE ${name} SET timezone = 'America/Los_Angeles'`);
    client = new pg.Client({ connectionString: url });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await administrator.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await administrator.end();
  });

  const insertMessage = (row: Readonly<Record<string, unknown>>) =>
    insert('messages', {
      team_id: team,
      id: ids.next('msg'),
      from_handle: 'a',
      to_handle: 'b',
      content: 'Hi',
      ...row,
    });

  async function insert(table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
    const places = Object.keys(row).map((_, index) => `$${index + 1}`);
    await client.query(
      `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${places.join(', ')})`,
      Object.values(row),
    );
  }

  const days = async () => {
    const { rows } = await client.query<{ day: string; direction: string; messages: number }>(
      'SELECT day::text, direction, messages::int FROM usage_days ORDER BY day, direction',
    );
    return rows;
  };

  it('counts the days of before, less what was given back, so that what is given back later was counted', async () => {
    const at = '2026-11-20T23:30:00Z';
    const later = '2026-11-21T00:30:00Z';
    const number_id = ids.next('num');
    await client.query(`INSERT INTO teams VALUES ($1, 'Example team', 'pro', 100, $2)`, [team, at]);
    await client.query(
      `INSERT INTO numbers (team_id, id, phone_number, status, created_at, verified_at)
       VALUES ($1, $2, '+14155550100', 'active', $3, $3)`,
      [team, number_id, at],
    );
    const outbound = { number_id, direction: 'outbound', status: 'queued', created_at: at };
    const failed = { ...outbound, status: 'failed', failed_at: later };
    await insertMessage(outbound);
    await insertMessage({ ...outbound, created_at: later });
    await insertMessage({ ...failed, error_code: 'cancelled' });
    await insertMessage({ ...failed, error_code: 'expired', hand_outs: 1 });
    await insertMessage({ ...failed, error_code: 'device_error', hand_outs: 1 });
    await insertMessage({ ...outbound, direction: 'inbound', status: 'received' });

    const told = {
      team_id: team,
      message_id: ids.next('msg'),
      number_id,
      type: 'message.sent',
      created_at: at,
    };
    for (const sequence of [1, 2, 3]) {
      const id = ids.next('evt');
      const body = JSON.stringify({ id: publicId('evt', id), sequence });
      await insert('events', { ...told, id, sequence, body });
    }

    assert.deepEqual(await migrate(url, { upTo: '005' }), [2, 3, 4, 5]);
    await client.query(`SELECT make_partition('deliveries', '2026-11-01', 1000)`);
    assert.deepEqual(await migrate(url), [6, 8, 9, 10]);
    const [first, second] = ['2026-11-20', '2026-11-21'];
    assert.deepEqual(await days(), [
      { day: first, direction: 'inbound', messages: 1 },
      { day: first, direction: 'outbound', messages: 3 },
      { day: second, direction: 'outbound', messages: 1 },
    ]);
  });

  it('gives back what a process of the version before accepted meanwhile, and counts no day below nothing', async () => {
    const back = { teamId: team, day: '2026-11-21' };
    await refundMessages(client as unknown as Transaction, [back, back]);
    assert.equal((await days()).at(-1)?.messages, 0);
  });

  it('leaves room to change rows in the tables and months that stand already (decision 0017)', async () => {
    const { rows } = await client.query<{ relname: string; reloptions: string[] }>(
      `SELECT relname, reloptions FROM pg_class WHERE reloptions::text LIKE '%fillfactor%' AND relname ~ 'deliveries' ORDER BY 1`,
    );
    assert.deepEqual(
      rows.map(({ relname, reloptions }) => `${relname} ${reloptions}`),
      ['deliveries_2026_11', 'deliveries_unplaced', 'due_deliveries'].map(
        (table) => `${table} fillfactor=50`,
      ),
    );
  });

  it('publishes the events of before in their order, and delivers them to nobody', async () => {
    const database = new Database({ databaseUrl: url, logger: createLogger('fatal') });
    const services = { database, clock: new Clock(), feedPolls: new FeedPollRegistry() };
    assert.equal(await publishEvents(services), 3);
    const reader: FeedReader = {
      left: new AbortController().signal,
      reauthenticate: async () => undefined,
      withPermit: (work) => work(),
    };
    const page = await listEvents(services, team, { limit: 2 }, reader);
    const rest = await listEvents(services, team, { after: page.cursor }, reader);
    await database.close();
    assert.deepEqual(
      [...page.events, ...rest.events].map((event) => event.sequence),
      [1, 2, 3],
    );
    assert.deepEqual((await client.query('SELECT FROM deliveries')).rowCount, 0);
  });
});
