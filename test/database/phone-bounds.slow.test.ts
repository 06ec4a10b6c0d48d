import '#server/app/app.ts';
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type pg from 'pg';
import { allStatements } from '#server/database/query.ts';
import { defaultPacing } from '#server/numbers/pacing.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { givenClient, givenDatabase } from '#test/support/database/given-database.ts';
import { given } from '#test/support/service/given.ts';

const team = '01990000-0000-7000-8000-000000000001';
const numbers = 1_000;
const messages = 40_000;
const phones = 4;

/** A webhook with many due deliveries, and the greatest number that a claim takes (decision 0017). */
const webhook = '01990000-0000-7000-8000-000000000011';
const [dueDeliveries, claimedMax] = [20_000, 256];

/**
 * Rows of a table that a statement may read for one phone: its own row before and after a change. Checks of foreign keys
 * and the rows of two months add to that.
 */
const rowsPerPhoneMax = 12;

const idOf = (kind: string, n: number) => `01990000-0000-7000-80${kind}-${String(n).padStart(12, '0')}`;
const indexes = (first: number) => Array.from({ length: phones }, (_, index) => first + index);

describe('statements that phones and webhooks share, beside long queues and histories (decisions 0017 and 0039)', () => {
  const { database, service } = givenDatabase();
  const client = givenClient(database);
  /** A connection of the pool for frequent statements, which keeps the query plans of its statements. */
  const hot: pg.PoolClient = given(
    () => service.hot.connect(),
    (connection) => connection.release(true),
  );
  /** Messages in flight at the phones from index 500 on. */
  let inFlight: string[] = [];

  interface Batch {
    readonly values: readonly unknown[];
    readonly readsMax: number;
    /** Rows of the result. */
    readonly rows?: number;
  }

  /** Batches of four phones, and a claim of one webhook, by the names of the statements. */
  function batches(): Readonly<Record<string, Batch>> {
    const now = new Date();
    const later = new Date(now.getTime() + 60_000);
    const ofEach = (kind: string, first: number) => indexes(first).map((n) => idOf(kind, n));
    const each = (value: unknown) => indexes(0).map(() => value);
    const tokens = (first: number) => indexes(first).map((n) => sha256(`device ${n}`));
    const claim = [
      ...[each(team), ofEach('01', 0), ofEach('02', 0), ofEach('03', 0), each(1)],
      ...[JSON.stringify(defaultPacing('gentle')), now, later, later],
    ];
    const lookUp = [tokens(0), ofEach('03', 0), later, now];
    const confirm = [each(team), ofEach('01', 500), inFlight, ofEach('03', 500), new Date(0), now];
    const deliveries = [[webhook], ...[0, 0, 0, 0].map((low) => [low]), [], later, [], [], claimedMax, later];
    const ofPhones = { rows: phones, readsMax: rowsPerPhoneMax * phones };
    return {
      'device-protocol.look-up-polls': { ...ofPhones, values: lookUp },
      'messages.claim': { ...ofPhones, values: claim },
      'messages.confirm-sent': { ...ofPhones, values: confirm },
      // A claim reads the queue in several scans, each of at most `claimedMax` rows.
      'webhooks.claim-deliveries': { values: deliveries, readsMax: 8 * claimedMax },
    };
  }

  /** Rows that this connection has read of each table, including those that functions and foreign keys read. */
  async function rowsRead(): Promise<Map<string, number>> {
    const { rows } = await hot.query<{ relname: string; reads: number }>(
      'SELECT relname, sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS reads FROM pg_stat_xact_user_tables GROUP BY relname',
    );
    return new Map(rows.map(({ relname, reads }) => [relname, reads]));
  }

  /** Runs a statement in a transaction that is rolled back. @returns rows that it read of each table, and its result */
  async function readsOf(name: string, values: readonly unknown[]) {
    await hot.query('BEGIN');
    try {
      const before = await rowsRead();
      const { rowCount } = await hot.query({
        name,
        text: allStatements().get(name)?.text ?? '',
        values: [...values],
      });
      const after = await rowsRead();
      const reads = [...after].map(([table, count]) => [table, count - (before.get(table) ?? 0)] as const);
      return { rowCount, reads: new Map(reads.filter(([, count]) => count > 0)) };
    } finally {
      await hot.query('ROLLBACK');
    }
  }

  async function assertBounded(plans: string): Promise<void> {
    const offenders: string[] = [];
    for (const [name, { values, rows, readsMax }] of Object.entries(batches())) {
      const { rowCount, reads } = await readsOf(name, values);
      if (rows !== undefined) assert.equal(rowCount, rows, `${name} handles each phone`);
      assert.ok(reads.size >= 2, `${name} reads tables`);
      for (const [table, count] of reads)
        if (count > readsMax) offenders.push(`${name} reads ${count} rows of ${table} ${plans}`);
    }
    assert.deepEqual(offenders, []);
  }

  before(async () => {
    // Each statement is planned while the tables are empty, as on a new server.
    for (const [name, { values }] of Object.entries(batches())) await readsOf(name, values);
    await fill();
  });

  /** Inserts 1,000 phones of one team. A half of them have long queues, and the others a message in flight. */
  async function fill(): Promise<void> {
    await client.query(`
      INSERT INTO teams SELECT '${team}', 'Example team', 'pro', 100, to_timestamp(0), 'a1b2';
      INSERT INTO webhooks (team_id, id, url, events, secret, created_at)
        SELECT '${team}', '${webhook}', 'https://example.com/', ARRAY['message.sent'], 'x', to_timestamp(0);
      INSERT INTO due_deliveries (webhook_id, delivery_id, team_id, event_id, due_at)
        SELECT '${webhook}', (lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000')::uuid, '${team}', '${webhook}', to_timestamp(n)
        FROM generate_series(1, ${dueDeliveries}) AS n;
      CREATE TEMP TABLE phone AS SELECT n, lpad(n::text, 12, '0') AS suffix FROM generate_series(0, ${numbers - 1}) AS n;
      INSERT INTO numbers (team_id, id, phone_number, verified_at, created_at)
        SELECT '${team}', ('01990000-0000-7000-8001-' || suffix)::uuid, '+1415555' || right(suffix, 4), to_timestamp(0), to_timestamp(0) FROM phone;
      INSERT INTO setup_links (team_id, id, number_id, token_hash, created_at, expires_at)
        SELECT '${team}', ('01990000-0000-7000-8004-' || suffix)::uuid, ('01990000-0000-7000-8001-' || suffix)::uuid,
          sha256(('link ' || n)::bytea), to_timestamp(0), to_timestamp(1) FROM phone;
      INSERT INTO devices (team_id, id, number_id, setup_link_id, token_hash, generation, created_at)
        SELECT '${team}', ('01990000-0000-7000-8002-' || suffix)::uuid, ('01990000-0000-7000-8001-' || suffix)::uuid,
          ('01990000-0000-7000-8004-' || suffix)::uuid, sha256(('device ' || n)::bytea), n, to_timestamp(0) FROM phone;
      INSERT INTO device_sessions (number_id, team_id, device_id, session_id, poll_sequence, expires_at, last_seen_at, hand_out_total)
        SELECT ('01990000-0000-7000-8001-' || suffix)::uuid, '${team}', ('01990000-0000-7000-8002-' || suffix)::uuid,
          ('01990000-0000-7000-8003-' || suffix)::uuid, 1, now() + interval '1 day', now(), 50 FROM phone;
      CREATE TEMP TABLE made AS SELECT n, n % ${numbers} AS phone, ('01990000-0000-7000-8001-' || lpad((n % ${numbers})::text, 12, '0'))::uuid AS number_id,
        (lpad(to_hex((extract(epoch FROM d) * 1000)::bigint + n::bigint * 40000), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid AS id,
        -- The phones from 0 to 499 have a queue, and the newest message of each other phone is in flight.
        CASE WHEN n % ${numbers} < 500 AND n > ${messages} / 2 THEN 'queued'
          WHEN n % ${numbers} >= 500 AND n > ${messages - numbers} THEN 'polling' ELSE 'sent' END AS status
        FROM generate_series(1, ${messages}) AS n, (SELECT date_trunc('month', clock_timestamp()) - interval '20 days' AS d) AS since;
      INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, sent_at, hand_out_count)
        SELECT '${team}', id, number_id, 'outbound', '+1415555' || lpad(phone::text, 4, '0'), 'person-' || n, 'Hello', status, to_timestamp(0),
          CASE WHEN status = 'sent' THEN to_timestamp(1) END, CASE WHEN status = 'queued' THEN 0 ELSE 1 END FROM made;
      INSERT INTO send_queue (message_id, team_id, number_id, to_handle, queued_at)
        SELECT id, '${team}', number_id, 'person-' || n, to_timestamp(0) FROM made WHERE status = 'queued' ORDER BY n;
      INSERT INTO hand_outs (message_id, hand_out, team_id, device_id, session_id, handed_out_at)
        SELECT id, 1, '${team}', number_id, number_id, to_timestamp(0) FROM made WHERE status <> 'queued';
      INSERT INTO in_flight (number_id, team_id, message_id, hand_out, device_id, session_id, poll_sequence, seq, handed_out_at, leased_until)
        SELECT number_id, '${team}', id, 1, ('01990000-0000-7000-8002-' || lpad(phone::text, 12, '0'))::uuid,
          ('01990000-0000-7000-8003-' || lpad(phone::text, 12, '0'))::uuid, 1, n, now(), now() + interval '1 day' FROM made WHERE status = 'polling';
      INSERT INTO recent_hand_outs (team_id, number_id, ordinal, message_id, hand_out, contact, handed_out_at)
        SELECT '${team}', number_id, n / ${numbers}, id, 1, 'person-' || n, to_timestamp(n) FROM made WHERE status = 'sent';
      INSERT INTO conversations (team_id, number_id, contact, id, opened_by, opened_at, last_activity_at, last_message_id)
        SELECT '${team}', number_id, 'person-' || n, id, 'team', to_timestamp(n), to_timestamp(n), id FROM made WHERE status = 'sent';
      INSERT INTO inbound_ids SELECT '${team}', number_id, sha256(n::text::bytea), id FROM made;
      INSERT INTO inbound_fingerprints SELECT '${team}', number_id, sha256(n::text::bytea), id, now(), now(), 0 FROM made;
      INSERT INTO usage_days SELECT '${team}', date '2020-01-01' + n, 'inbound', 1 FROM generate_series(1, 2000) AS n;
      INSERT INTO opt_outs (team_id, contact_hash, contact, id, sequence, opted_out_at, request_id)
        SELECT '${team}', md5(n::text)::uuid, 'other-' || n, id, 1, to_timestamp(n), 'req_' || n FROM made;`);
    const { rows } = await client.query<{ message_id: string }>(
      'SELECT message_id FROM in_flight WHERE number_id = ANY ($1) ORDER BY number_id',
      [indexes(500).map((n) => idOf('01', n))],
    );
    inFlight = rows.map((row) => row.message_id);
  }

  it('each statement reads a few rows per phone with a query plan that was made while all tables were empty', async () => {
    await assertBounded('with the plan of empty tables');
  });

  it('each statement reads a few rows per phone with a query plan for large tables', async () => {
    await client.query('ANALYZE');
    await assertBounded('with the plan of large tables');
  });
});
