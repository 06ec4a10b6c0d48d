import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { migrate } from '#server/database/migrate.ts';

const engineUrl = process.env.TEST_ENGINE_URL ?? '';
const team = '01990000-0000-7000-8000-000000000001';
const number = '01990000-0000-7000-8000-000000000101';

/** A message id that was made in the given minute. */
const idAt = (minute: number) => `019901${String(minute).padStart(2, '0')}-0000-7000-8000-000000000000`;
const timeAt = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

describe('the upgrade to the conversations of the dashboard (migration 010)', () => {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const url = engineUrl.replace('/ownline?', `/${name}?`);
  let administrator: pg.Client;
  let client: pg.Client;

  before(async () => {
    administrator = new pg.Client({ connectionString: engineUrl.replace('/ownline?', '/postgres?') });
    await administrator.connect();
    await administrator.query(`CREATE DATABASE ${name}`);
    await migrate(url, { upTo: '9' });
    client = new pg.Client({ connectionString: url });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await administrator.query(`DROP DATABASE ${name}`);
    await administrator.end();
  });

  const conversation = (contact: string, openedMinute: number, inboundMinute: number | null) =>
    client.query(
      `INSERT INTO conversations (team_id, number_id, contact, opened_by, opened_at, last_inbound_at)
       VALUES ($1, $2, $3, 'team', $4, $5)`,
      [team, number, contact, timeAt(openedMinute), inboundMinute === null ? null : timeAt(inboundMinute)],
    );
  const received = (minute: number, from: string) =>
    client.query(
      `INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at)
       VALUES ($1, $2, $3, 'inbound', $4, '+14155550100', 'Hello', 'received', $5)`,
      [team, idAt(minute), number, from, timeAt(minute)],
    );
  const sent = async (minute: number, to: string, handedOutMinute: number | undefined) => {
    const isHandedOut = handedOutMinute !== undefined;
    await client.query(
      `INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, hand_out_count)
       VALUES ($1, $2, $3, 'outbound', '+14155550100', $4, 'Hello', $5, $6, $7)`,
      [
        team,
        idAt(minute),
        number,
        to,
        isHandedOut ? 'polling' : 'queued',
        timeAt(minute),
        isHandedOut ? 1 : 0,
      ],
    );
    if (!isHandedOut) return;
    await client.query(
      `INSERT INTO hand_outs (message_id, hand_out, team_id, number_id, device_id, session_id, handed_out_at)
       VALUES ($1, 1, $2, $3, $3, $3, $4)`,
      [idAt(minute), team, number, timeAt(handedOutMinute)],
    );
  };

  it('migration 010 fills each conversation’s latest activity, newest messages and spellings of the contact', async () => {
    await client.query(`INSERT INTO teams VALUES ($1, 'Example team', 'pro', 100, to_timestamp(0))`, [team]);
    await client.query(
      `INSERT INTO numbers (team_id, id, phone_number, verified_at, created_at)
       VALUES ($1, $2, '+14155550100', to_timestamp(0), to_timestamp(0))`,
      [team, number],
    );
    await conversation('+14155550101', 1, 2);
    await sent(1, '+14155550101', 5);
    await received(2, '+14155550101');
    await sent(9, '+14155550101', undefined);
    // Writes rows in the form that they had after migration 007.
    await conversation('Ada@Example.com', 3, 3);
    await conversation('ADA@example.com', 4, 4);
    await conversation('ada@example.com', 4, 4);
    await conversation('Eve@example.com', 6, null);
    await conversation('EVE@example.com', 6, null);
    await received(3, 'Ada@Example.com');
    await received(4, 'ada@example.com');
    await conversation('+14155550102', 7, null);
    await migrate(url);
    const { rows } = await client.query(
      `SELECT contact, last_activity_at, last_message_id, last_inbound_id, handles FROM conversations ORDER BY contact`,
    );
    assert.deepEqual(rows, [
      {
        contact: '+14155550101',
        last_activity_at: timeAt(5),
        last_message_id: idAt(2),
        last_inbound_id: idAt(2),
        handles: [],
      },
      {
        contact: '+14155550102',
        last_activity_at: timeAt(7),
        last_message_id: '00000000-0000-0000-0000-000000000000',
        last_inbound_id: null,
        handles: [],
      },
      {
        contact: 'ada@example.com',
        last_activity_at: timeAt(4),
        last_message_id: idAt(4),
        last_inbound_id: idAt(4),
        handles: ['Ada@Example.com'],
      },
      {
        contact: 'eve@example.com',
        last_activity_at: timeAt(6),
        last_message_id: '00000000-0000-0000-0000-000000000000',
        last_inbound_id: null,
        handles: [],
      },
    ]);
  });
});
