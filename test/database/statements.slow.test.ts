import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type pg from 'pg';
import '#server/app/app.ts';
import '#server/operations/record-restore.ts';
import { allStatements } from '#server/database/query.ts';
import { messageColumns } from '#server/messages/message.ts';
import { explainGeneric } from '#test/support/database/explain-page.ts';
import { givenClient, givenDatabase } from '#test/support/database/given-database.ts';
import { nodesOf, type PlanNode, tableOf } from '#test/support/database/plan-node.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

/** Tables that grow with use, which no statement may scan. */
const growing = [
  'messages',
  'message_segments',
  'hand_outs',
  'events',
  'send_queue',
  'recent_hand_outs',
  'conversations',
  'conversation_answers',
  'conversation_reads',
  'mails',
  'deliveries',
  'attempts',
  'due_deliveries',
  'media',
  'media_chunks',
  'opt_outs',
  'contacts',
  'contact_handles',
  'contact_words',
];

/** Statements that may read a whole index, because they need every row in order or run rarely. */
const walking = [
  'events.publish',
  'webhooks.sweep-deliveries',
  'messages.purge-idempotency-keys',
  // An erasure reads the team's idempotency keys of one day.
  'messages.erase-idempotency-keys',
  // Runs once a day. Few devices give ids to inbound messages.
  'messages.purge-inbound-ids',
  // Runs once a day.
  'messages.purge-answers',
  // This statement reads an index that contains only segments that an erasure emptied.
  'search.emptied',
  // These statements read an index that contains only open mails.
  'mail.waiting',
  'mail.count-held',
  'mail.postpone-leases',
];

/** Statements that a restore runs once, before the service starts. */
const restoring = ['mail.end-leases', 'messages.hold-all', 'webhooks.end-leases'];

/** Statements of /metrics, which run at most once in five seconds, and the count of 100,000 rows at most for a new contact. */
const counting = ['messages.queue-depth', 'webhooks.due-depth', 'contacts.count'];

const messages = 50_000;

describe('every named statement (decision 0003)', () => {
  const { database } = givenDatabase();
  const client = givenClient(database);
  const { service: empty } = givenDatabase();
  let scansOfAnalyzedEmpty: string[];
  before(async () => {
    // In one transaction, so that autovacuum does not analyze the filled tables.
    await client.query('ANALYZE; BEGIN');
    await fill();
    await client.query('SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
    scansOfAnalyzedEmpty = await listWholeScans(client);
    await client.query('COMMIT; ANALYZE');
  });

  /** Inserts two months of messages of 500 numbers, a fifth of them waiting, and mails, few of them waiting. */
  async function fill(): Promise<void> {
    await client.query(`
      INSERT INTO teams SELECT '01990000-0000-7000-8000-000000000001', 'Example team', 'pro', 100, to_timestamp(0), 'a1b2';
      INSERT INTO numbers (team_id, id, phone_number, verified_at, created_at)
        SELECT '01990000-0000-7000-8000-000000000001', ('01990000-0000-7000-8000-000000010' || lpad(n::text, 3, '0'))::uuid,
          '+14155550' || lpad(n::text, 3, '0'), to_timestamp(0), to_timestamp(0) FROM generate_series(0, 499) AS n;
      CREATE TEMP TABLE made AS SELECT n, ('01990000-0000-7000-8000-000000010' || lpad((n % 500)::text, 3, '0'))::uuid AS number_id,
        (lpad(to_hex((extract(epoch FROM d) * 1000)::bigint + n::bigint * 80000), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid AS id
        FROM generate_series(1, ${messages}) AS n, (SELECT date_trunc('month', clock_timestamp()) - interval '20 days' AS d) AS since;
      INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at)
        SELECT '01990000-0000-7000-8000-000000000001', id, number_id, 'outbound', '+14155550' || lpad((n % 500)::text, 3, '0'),
          '+1212555' || lpad((n % 5000)::text, 4, '0'), 'Hello', 'queued', to_timestamp(0) FROM made;
      INSERT INTO send_queue (message_id, team_id, number_id, to_handle, queued_at)
        SELECT id, '01990000-0000-7000-8000-000000000001', number_id, '+12125550000', to_timestamp(0) FROM made WHERE n > ${0.8 * messages};
      INSERT INTO message_segments (team_id, first_id, last_id, signature)
        SELECT '01990000-0000-7000-8000-000000000001', id, id, CASE WHEN n % 1000 = 0 THEN '' ELSE sha256(n::text::bytea) END FROM made;
      INSERT INTO hand_outs (message_id, hand_out, team_id, device_id, session_id, handed_out_at)
        SELECT id, 1, '01990000-0000-7000-8000-000000000001', id, id, to_timestamp(0) FROM made;
      INSERT INTO recent_hand_outs (team_id, number_id, ordinal, message_id, hand_out, contact, handed_out_at)
        SELECT '01990000-0000-7000-8000-000000000001', number_id, n, id, 1, '+1212555' || lpad((n % 5000)::text, 4, '0'), to_timestamp(n) FROM made;
      INSERT INTO conversations (team_id, number_id, contact, id, opened_by, opened_at, last_activity_at, last_message_id)
        SELECT '01990000-0000-7000-8000-000000000001', number_id, 'person-' || n, id, 'team', to_timestamp(n), to_timestamp(n), id FROM made;
      INSERT INTO events (team_id, id, type, message_id, number_id, sequence, data, created_at)
        SELECT '01990000-0000-7000-8000-000000000001', id, 'message.sent', id, number_id, 1, '{}', to_timestamp(n) FROM made;
      INSERT INTO accounts (id, email, normalized_email, name, created_at)
        SELECT '01990000-0000-7000-8000-000000000002', 'ada@example.com', 'ada@example.com', 'Ada', to_timestamp(0);
      INSERT INTO members (team_id, id, account_id, role, created_at)
        SELECT '01990000-0000-7000-8000-000000000001', '01990000-0000-7000-8000-000000000003', id, 'viewer', to_timestamp(0) FROM accounts;
      INSERT INTO conversation_reads (team_id, member_id, phone_number, contact, read_until)
        SELECT '01990000-0000-7000-8000-000000000001', '01990000-0000-7000-8000-000000000003', '+14155550100', 'person-' || n, id FROM made;
      INSERT INTO conversation_answers (team_id, phone_number, contact, message_id, attempt)
        SELECT '01990000-0000-7000-8000-000000000001', '+14155550100', 'person-' || n, id, id FROM made;
      INSERT INTO mails (id, recipient, body, created_at, next_attempt_at, sent_at)
        SELECT id, 'person-' || n || '@example.com', CASE WHEN n > ${messages - 100} THEN sha256('x') END, to_timestamp(n), to_timestamp(n),
          CASE WHEN n <= ${messages - 100} THEN to_timestamp(n) END FROM made;
      INSERT INTO deliveries (team_id, id, webhook_id, event_id, event_type, status, created_at, finished_at)
        SELECT '01990000-0000-7000-8000-000000000001', id, number_id, id, 'message.sent', CASE WHEN n > ${0.9 * messages} THEN 'pending' ELSE 'failed' END,
          to_timestamp(0), CASE WHEN n <= ${0.9 * messages} THEN to_timestamp(1) END FROM made;
      INSERT INTO attempts (team_id, delivery_id, id, started_at, duration_ms, outcome, url, is_counted)
        SELECT '01990000-0000-7000-8000-000000000001', id, id, to_timestamp(0), 1, 'dns', 'https://example.com/', true FROM made;
      INSERT INTO due_deliveries (webhook_id, delivery_id, team_id, event_id, due_at)
        SELECT number_id, id, '01990000-0000-7000-8000-000000000001', id, to_timestamp(0) FROM made WHERE n > ${0.9 * messages};
      INSERT INTO media (message_id, team_id, name, type, created_at, is_complete, size_bytes, sha256)
        SELECT id, '01990000-0000-7000-8000-000000000001', 'media.jpg', 'image/jpeg', to_timestamp(0), n > 100,
          CASE WHEN n > 100 THEN 1 END, CASE WHEN n > 100 THEN sha256('x') END FROM made WHERE n <= 10000;
      INSERT INTO media_chunks SELECT team_id, message_id, file_id, 0, 'x' FROM media;
      INSERT INTO opt_outs (team_id, contact_hash, contact, id, sequence, opted_out_at, request_id)
        SELECT '01990000-0000-7000-8000-000000000001', md5(n::text)::uuid, '+1212666' || lpad(n::text, 6, '0'), id, 1, to_timestamp(n), 'req_' || n FROM made;
      INSERT INTO contacts (team_id, id, name, created_at, updated_at)
        SELECT '01990000-0000-7000-8000-000000000001', id, 'Ada', to_timestamp(n), to_timestamp(n) FROM made;
      INSERT INTO contact_handles (team_id, contact_id, handle, position)
        SELECT '01990000-0000-7000-8000-000000000001', id, '+1212777' || lpad(n::text, 6, '0'), 0 FROM made;
      INSERT INTO contact_words (team_id, contact_id, word)
        SELECT '01990000-0000-7000-8000-000000000001', id, 'ada' FROM made;`);
  }

  it('every statement fits the schema, and returns no two columns of one name, of which only the last could be read', async () => {
    const failures: string[] = [];
    for (const [name, { text }] of allStatements()) {
      const columns = await resultColumns(client, text).catch((error: Error) => [
        error.message,
        error.message,
      ]);
      const twice = columns.filter((column, index) => columns.indexOf(column) !== index);
      if (twice.length > 0) failures.push(`${name}: ${twice.join(', ')}`);
    }
    assert.deepEqual(failures, []);
    assert.ok(allStatements().size > 50);
  });

  it(`no statement scans ${growing.join(', ')} at ${messages.toLocaleString('en')} messages`, async () => {
    const offenders: string[] = [];
    const tables = await client.query<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples > 1000 AND relname ~ '^(${growing.join('|')})$'`,
    );
    const filled = tables.rows.map((row) => row.relname);
    assert.ok(filled.length >= 5, `tables with rows: ${filled.join(', ')}`);
    for (const [name, { text }] of allStatements()) {
      const plan = await planOf(client, text);
      const scanned = [...plan.matchAll(/Seq Scan on (\w+)/g)].map((match) => match[1] ?? '');
      const found = scanned.filter((table) => filled.includes(table));
      if (found.length > 0 && ![...counting, ...restoring].includes(name))
        offenders.push(`${name}: ${[...new Set(found)].join(', ')}`);
    }
    assert.deepEqual(offenders, []);
  });

  it('no statement scans growing tables with a plan that was made while all tables were empty', async () => {
    const hot = await empty.hot.connect();
    assert.deepEqual(await listWholeScans(hot).finally(() => hot.release()), []);
  });

  it('no statement scans growing tables that were analyzed while empty, and then filled', () => {
    assert.deepEqual(scansOfAnalyzedEmpty, []);
  });

  it('a page of failed or inbound messages is read through the index for them, in an empty table and after ANALYZE', async (t) => {
    const pages = await empty.pages.connect();
    t.after(() => pages.release());
    for (const prepare of ['SELECT 1', 'ANALYZE messages']) {
      await empty.pool.query(prepare);
      for (const kind of ['failed', 'inbound']) {
        const plan = await planOf(pages, allStatements().get(`messages.list-${kind}`)?.text);
        assert.match(plan, new RegExp(`Index Scan Backward using messages_${kind} on messages`), prepare);
      }
    }
  });

  it('the TypeScript type of a message row has the columns of the table', async () => {
    const { rows } = await client.query<{ column_name: string }>(
      `SELECT column_name FROM information_schema.columns WHERE table_name = 'messages' ORDER BY ordinal_position`,
    );
    assertEach(rows, (row) => row.column_name, [...messageColumns]);
  });
});

/** The generic plan of a statement, as lines. */
async function planOf(db: pg.ClientBase, text = ''): Promise<string> {
  return (await explainGeneric<string>(db, text, 'COSTS OFF')).join('\n');
}

/** Statements whose generic plans read a whole growing table, or a whole index of one. */
async function listWholeScans(db: pg.ClientBase): Promise<string[]> {
  const offenders: string[] = [];
  for (const [name, { text }] of allStatements()) {
    const [plans = []] = await explainGeneric<{ Plan: PlanNode }[]>(db, text, 'FORMAT JSON');
    const whole = plans
      .flatMap(({ Plan }) => nodesOf(Plan))
      .filter((node) => /^(Seq|Index|Index Only) Scan$/.test(node['Node Type']))
      // Finds scans whose filter compares an id: that condition has to be part of the index condition.
      .filter(
        ({ 'Index Cond': by = '', Filter: filter = '' }) =>
          /^(\(team_id = [^)]*\))?$/.test(by) || /\b(id|message_id|delivery_id|key) = /.test(filter),
      )
      .map((node) => tableOf(node) ?? '')
      .filter((table) => [...growing, 'idempotency_keys', 'inbound_ids'].includes(table));
    if (whole.length > 0 && ![...walking, ...counting, ...restoring].includes(name))
      offenders.push(`${name}: ${[...new Set(whole)].join(', ')}`);
  }
  return offenders;
}

/** Names of the columns that a statement returns, in order; none if it returns no rows. It is not run. */
async function resultColumns(client: pg.Client, text: string): Promise<string[]> {
  const { connection } = client as pg.Client & { readonly connection: pg.Connection };
  const names: string[] = [];
  const describe = new Promise<void>((resolve, reject) => {
    const onColumns = ({ fields }: { readonly fields: readonly { readonly name: string }[] }) =>
      names.push(...fields.map(({ name }) => name));
    const query = {
      submit: () => {
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription: onColumns,
      handleError: reject,
      handleReadyForQuery: () => resolve(),
    };
    client.query(query as unknown as pg.Submittable);
  });
  await describe;
  return names;
}
