import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventTypes, messageEventTypes } from '#contract/event.ts';
import { failureCodes, type MessageStatus, messageStatuses } from '#contract/message.ts';
import { messageSteps } from '#server/messages/message-status.ts';
import { Ids } from '#server/platform/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { rowOfEachTable } from '#test/support/backups/row-of-each-table.ts';
import { assertConstraint, openBareDatabase } from '#test/support/database/bare-database.ts';
import { given } from '#test/support/service/given.ts';

type Row = Readonly<Record<string, unknown>>;

const clock = new Clock();
const ids = new Ids(clock);
const at = clock.now();
const hash = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32)));
/** The token's length in bytes. A column for hashes refuses a value of this length. */
const token = Buffer.alloc(43, 1);
const other = ids.next('team');
const otherNumber = ids.next('num');

describe('rows that the schema refuses from every writer (docs/internals/invariants.md)', () => {
  const database = given(openBareDatabase);
  let rows: Readonly<Record<string, readonly Row[]>>;

  before(async () => {
    rows = rowOfEachTable(database.team);
    for (const [table, found] of Object.entries(rows))
      for (const row of found) await database.insert(table, row);
    await database.insert('teams', { ...rows.teams?.[0], id: other, route: 'y8y8' });
    for (const columns of [
      { team_id: other, id: otherNumber, phone_number: '+14155550101' },
      { id: ids.next('num'), phone_number: '+14155550150', is_simulated: true },
    ])
      await database.insert('numbers', { ...rows.numbers?.[0], ...columns });
  });

  /** The row of a table with a new id and the given columns. */
  const sound = (table: string, columns: Row = {}): Row => {
    const row = rows[table]?.[0] ?? {};
    return { ...row, ...('id' in row ? { id: ids.next('msg') } : {}), ...columns };
  };
  const idOf = (table: string) => rows[table]?.[0]?.id;

  /** @param cases a table, the columns that make its valid row invalid, and the error's code and constraint */
  async function assertRefused(cases: readonly (readonly [string, Row, string])[]): Promise<void> {
    for (const [table, columns, refusal] of cases) {
      const writing = database.insert(table, sound(table, columns));
      await assertConstraint(writing, new RegExp(`^${refusal}`), `${table} ${Object.keys(columns)}:`);
    }
  }

  async function assertAccepted(cases: readonly (readonly [string, Row])[]): Promise<void> {
    for (const [table, columns] of cases) {
      await database.pool.query('BEGIN');
      await database.insert(table, sound(table, columns)).finally(() => database.pool.query('ROLLBACK'));
    }
  }

  it('the schema refuses a number twice in a team, a number that is verified and pending, and simulated numbers that are not fictional', async () => {
    const pending = { verified_at: null, pending_until: at };
    await assertAccepted([['numbers', { team_id: other, ...pending }]]);
    await assertRefused([
      ['numbers', { team_id: other }, '23505 numbers_one_verified'],
      ['numbers', pending, '23505 numbers_one_per_team'],
      ['numbers', { pending_until: at }, '23514 numbers_check'],
      ['numbers', { verified_at: null }, '23514 numbers_check'],
      ...['+14155550200', '+447911550100', '+11155550100'].map(
        (phone_number) =>
          ['numbers', { phone_number, is_simulated: true }, '23514 simulated_is_fictional'] as const,
      ),
      ['numbers', { phone_number: '+14155550151', is_simulated: true }, '23505 numbers_one_simulated'],
    ]);
  });

  it('the schema allows the simulated number of test keys only in test teams, no other number there, and one test team per team', async () => {
    const simulated = { is_simulated: true };
    await assertRefused([
      ['numbers', { team_id: idOf('teams'), phone_number: '+14155550152' }, '23514 numbers_test_line'],
      ['numbers', { team_id: other, phone_number: '+15005550100', ...simulated }, '23514 numbers_test_line'],
      ['test_teams', { test_team_id: other }, '23505 test_teams_pkey'],
    ]);
  });

  it('the schema refuses a row that refers to a row of another team, or to none (§5.4/test-data-apart)', async () => {
    const nobody = ids.next('acc');
    const [fresh, newKey] = [{ token_hash: hash() }, { hash: hash() }];
    await assertRefused([
      ['messages', { number_id: otherNumber }, '23503'],
      ['setup_links', { ...fresh, number_id: otherNumber }, '23503 setup_links_team_id_number_id_fkey'],
      ['in_flight', { number_id: otherNumber, message_id: nobody }, '23503 in_flight_team_id_number_id_fkey'],
      ['events', { message_id: ids.next('msg') }, '23503 events_team_id_message_id_fkey'],
      ['events', { team_id: other, number_id: otherNumber }, '23503 events_team_id_message_id_fkey'],
      ['invitations', { ...fresh, team_id: other }, '23503 invitations_team_id_invited_by_fkey'],
      [
        'api_keys',
        { ...newKey, team_id: other, test_team_id: null },
        '23503 api_keys_team_id_created_by_fkey',
      ],
      ...[{ team_id: other, created_by: null }, { test_team_id: other }, { test_team_id: database.team }].map(
        (columns) =>
          ['api_keys', { ...newKey, ...columns }, '23503 api_keys_team_id_test_team_id_fkey'] as const,
      ),
      ['members', { team_id: ids.next('team') }, '23503 members_team_id_fkey'],
      ['members', { account_id: nobody }, '23503 members_account_id_fkey'],
      ['account_sessions', { ...fresh, account_id: nobody }, '23503 account_sessions_account_id_fkey'],
      ['magic_links', { ...fresh, account_id: nobody }, '23503 magic_links_account_id_fkey'],
      ['passkeys', { credential_id: hash(), account_id: nobody }, '23503 passkeys_account_id_fkey'],
      [
        'passkey_challenges',
        { challenge_hash: hash(), account_id: nobody },
        '23503 passkey_challenges_account',
      ],
    ]);
    for (const table of ['accounts', 'messages'])
      await assertConstraint(database.pool.query(`DELETE FROM ${table}`), /^23503/, table);
  });

  it('the schema refuses a second row with the same unique key (§12.1/account)', async () => {
    const fresh = { id: ids.next('msg') };
    await assertRefused([
      ['in_flight', { message_id: fresh.id }, '23505 in_flight_pkey'],
      ['idempotency_keys', { message_id: fresh.id }, '23505 idempotency_keys_pkey'],
      ['inbound_ids', { message_id: fresh.id }, '23505 inbound_ids_pkey'],
      ['devices', { token_hash: hash() }, '23505 devices_team_id_setup_link_id_key'],
      ['due_deliveries', { lane: 'manual' }, '23505 due_deliveries_pkey'],
      ['accounts', {}, '23505 accounts_normalized_email_key'],
      ['account_sessions', {}, '23505 account_sessions_token_hash_key'],
      ['magic_links', {}, '23505 magic_links_token_hash_key'],
      ['passkeys', {}, '23505 passkeys_credential_id_key'],
      ['passkey_challenges', {}, '23505 passkey_challenges_pkey'],
      ['members', {}, '23505 members_one_per_account'],
      ['invitations', { token_hash: hash() }, '23505 invitations_one_open'],
      ['invitations', { revoked_at: at }, '23505 invitations_token_hash_key'],
      ['opt_outs', {}, '23505'],
      ['media', { file_id: 2 }, '23505 .*(message_id_idx|one_complete)'],
      ['media_chunks', {}, '23505 media_chunks_pkey'],
    ]);
    const ofOther = { team_id: other, invited_by: null };
    await assertAccepted([
      ['members', { removed_at: at }],
      ['members', { team_id: other }],
      ...[{ revoked_at: at }, { accepted_at: at }, ofOther].map(
        (columns) => ['invitations', { token_hash: hash(), ...columns }] as const,
      ),
      ['media', { file_id: 2, is_complete: false, size_bytes: null, sha256: null }],
    ]);
  });

  it('the schema refuses wrong rows of accounts, members and invitations (§3.5/lifetime)', async () => {
    const withoutAddress = { email: null, normalized_email: null };
    const counted = { window_start: at, hits: 1 };
    await assertAccepted([['invitations', { ...withoutAddress, role: 'owner', token_hash: hash() }]]);
    await assertRefused([
      ...['', 'x'.repeat(101)].flatMap((name) => [
        ['accounts', { name }, '23514 accounts_name_check'] as const,
        ['passkeys', { name }, '23514 passkeys_name_check'] as const,
      ]),
      ...['superuser', '', 'Owner'].flatMap((role) => [
        ['members', { role }, '23514 members_role_check'] as const,
        ['invitations', { role }, '23514 invitations_role_check'] as const,
      ]),
      ...['admin', 'member', 'viewer'].map(
        (role) => ['invitations', { ...withoutAddress, role }, '23514 invitations_check'] as const,
      ),
      ['invitations', { normalized_email: null, role: 'owner' }, '23514 invitations_check'],
      ['invitations', { accepted_at: at, revoked_at: at }, '23514 invitations_check'],
      ['invitations', { token_hash: token }, '23514 invitations_token_hash_check'],
      ['account_sessions', { token_hash: token }, '23514'],
      ['account_sessions', { method: 'key' }, '23514 account_sessions_method_check'],
      ['magic_links', { token_hash: token }, '23514'],
      ['passkey_challenges', { challenge_hash: token }, '23514'],
      ['passkeys', { counter: -1 }, '23514 passkeys_counter_check'],
      ['throttle_counters', { subject: token, ...counted }, '23514'],
      ['throttle_counters', { subject: hash(), ...counted, hits: 0 }, '23514 throttle_counters_hits_check'],
    ]);
  });

  it('the schema refuses wrong rows of mails, usage and hand-outs (§3.2/handed-out-once)', async () => {
    const sent = { sent_at: at, body: null };
    await assertAccepted([
      ['mails', { leased_until: at }],
      ['mails', sent],
    ]);
    await assertRefused([
      ...[{ body: null }, { sent_at: at }, { failed_at: at }].map(
        (columns) => ['mails', columns, '23514 body_while_open'] as const,
      ),
      ['mails', { ...sent, failed_at: at }, '23514 mail_ends_once'],
      ['mails', { ...sent, leased_until: at }, '23514 leased_while_open'],
      ['usage_months', { accepted: -1 }, '23514 usage_months_accepted_check'],
      ['usage_months', { month: '2026-11-15' }, '23514 usage_months_month_check'],
      ['hand_outs', { hand_out: 3 }, '23514 hand_outs_hand_out_check'],
    ]);
  });

  it('the schema refuses wrong rows of webhooks and deliveries (§3.4/enable-and-disable, §6.3/failure-count)', async () => {
    const off = { is_active: false, disabled_at: at, disabled_by: 'member' };
    const rotation = { next_secret: hash(), next_secret_from: at };
    const waiting = { delivery_id: ids.next('dlv') };
    await assertAccepted([
      ['webhooks', { ...off, failure_count: 10 }],
      ['webhooks', rotation],
      ['deliveries', { status: 'skipped', finished_at: at }],
      ['attempts', { response_body: Buffer.alloc(16_384) }],
    ]);
    await assertRefused([
      ['webhooks', { is_active: false }, '23514 disabled_has_reason$'],
      ['webhooks', { ...off, disabled_by: null }, '23514 disabled_has_reason$'],
      ['webhooks', { ...off, is_active: true }, '23514 disabled_has_reason$'],
      ['webhooks', { ...off, disabled_by: 'nobody' }, '23514 .*disabled_by'],
      ['webhooks', { failure_count: 10 }, '23514 tenth_failure_disables$'],
      ['webhooks', { ...off, failure_count: 11 }, '23514 .*failure_count'],
      ['webhooks', { ...rotation, next_secret_from: null }, '23514 rotation_has_its_end$'],
      ['webhooks', { ...rotation, next_secret: null }, '23514 rotation_has_its_end$'],
      ...[[], ['message.read'], Array(9).fill('message.sent')].map(
        (events) => ['webhooks', { events }, '23514 .*events'] as const,
      ),
      ['deliveries', { finished_at: at }, '23514 pending_is_open$'],
      ['deliveries', { status: 'failed' }, '23514 pending_is_open$'],
      ['deliveries', { status: 'done', finished_at: at }, '23514 .*status'],
      ['due_deliveries', { ...waiting, lane: 'first' }, '23514 .*lane'],
      ['due_deliveries', { ...waiting, attempt: 5 }, '23514 .*attempt'],
      ['due_deliveries', { ...waiting, lease: 1 }, '23514 leased_by_somebody$'],
      ['attempts', { response_body: Buffer.alloc(16_385) }, '23514 response_is_capped$'],
    ]);
  });

  it('the schema refuses wrong rows of media and opt-outs', async () => {
    const names = ['', 'a/b.jpg', 'a b.jpg', 'a"b.jpg', 'a\nb.jpg', '\u00fc.jpg', 'a'.repeat(101)];
    const open = { is_complete: false, size_bytes: null, sha256: null };
    const chunkMax = 256 * 1_024;
    const byText = { message_id: ids.next('msg'), phone_number: '+14155550100' };
    await assertAccepted([
      ['media_chunks', { position: 1, data: Buffer.alloc(chunkMax) }],
      ['opt_outs', { contact_hash: ids.next('opt'), contact: 'ada', ...byText, request_id: null }],
    ]);
    await assertRefused([
      ['media', { ...open, is_complete: true }, '23514 complete_has_size'],
      ['media', { sha256: null }, '23514 complete_has_size'],
      ['media', { ...open, size_bytes: 1 }, '23514 complete_has_size'],
      ...[0, 5 * 1_024 * 1_024 + 1].map(
        (size_bytes) => ['media', { size_bytes }, '23514 .*size_bytes'] as const,
      ),
      ...names.map((name) => ['media', { name }, '23514 .*name'] as const),
      ...[0, chunkMax + 1].map(
        (bytes) => ['media_chunks', { position: 1, data: Buffer.alloc(bytes) }, '23514 .*data'] as const,
      ),
      ['media_chunks', { position: -1 }, '23514 .*position'],
      ...[
        { request_id: null },
        byText,
        { message_id: byText.message_id, request_id: null },
        { phone_number: byText.phone_number },
        { contact: '' },
        { contact: 'a'.repeat(321) },
        { contact: null, opted_in_at: at },
      ].map((columns) => ['opt_outs', columns, '23514'] as const),
    ]);
  });

  it('the schema requires that an event is about a message and its number, a contact, or a number', async () => {
    const [message, number, contact] = [idOf('messages'), idOf('numbers'), '+14155550101'];
    /** Each combination of the resources that an event may refer to. */
    const references = [message, null].flatMap((message_id) =>
      [number, null].flatMap((number_id) =>
        [contact, null].map((of) => ({ message_id, number_id, contact: of })),
      ),
    );
    for (const type of eventTypes) {
      const kind = messageEventTypes.some((known) => known === type) ? 'message' : type.split('.')[0];
      for (const reference of references) {
        const { message_id, number_id, contact: handle } = reference;
        const isRight = {
          message: message_id && number_id && !handle,
          number: !message_id && number_id && !handle,
          contact: !message_id && handle,
        }[kind ?? ''];
        const event = { type, ...reference, sequence: 40_000 };
        if (isRight) await assertAccepted([['events', event]]);
        else await assertRefused([['events', event, '23514']]);
      }
    }
    await assertRefused([['events', { type: 'message.read' }, '23514']]);
  });

  it('the schema accepts exactly the failure reasons and event types that the code has', async () => {
    const { rows: found } = await database.pool.query<{ name: string; words: string[] }>(
      `SELECT conname AS name, array(SELECT m[1] FROM regexp_matches(pg_get_constraintdef(oid), '''([a-z_.]+)''', 'g') m) AS words
       FROM pg_constraint WHERE conname IN ('messages_error_code_check', 'events_type_check', 'webhooks_events_check')
         AND conrelid IN ('messages'::regclass, 'events'::regclass, 'webhooks'::regclass)`,
    );
    assert.deepEqual(Object.fromEntries(found.map(({ name, words }) => [name, words.toSorted()])), {
      messages_error_code_check: failureCodes.toSorted(),
      events_type_check: eventTypes.toSorted(),
      webhooks_events_check: eventTypes.toSorted(),
    });
  });

  const queued = { status: 'queued', hand_out_count: 0 };
  const failed = { failed_at: at, error_code: 'expired' };
  /** The columns that a status requires. */
  const inStatus = (status: MessageStatus): Row => ({
    status,
    hand_out_count: status === 'queued' || status === 'received' ? 0 : 1,
    direction: status === 'received' ? 'inbound' : 'outbound',
    ...(status === 'sent' || status === 'delivered' ? { sent_at: at } : {}),
    ...(status === 'delivered' ? { delivered_at: at } : {}),
    ...(status === 'failed' ? { failed_at: at, error_code: 'device_timeout', may_have_been_sent: true } : {}),
  });

  it('the schema requires the times and reasons that belong to a message’s status, and no others', async () => {
    const wrong: readonly Row[] = [
      { status: 'received' },
      { direction: 'inbound' },
      { status: 'failed', failed_at: at },
      { status: 'failed', error_code: 'expired' },
      failed,
      { status: 'delivered', hand_out_count: 1, sent_at: at },
      { status: 'delivered', hand_out_count: 1, delivered_at: at },
      { status: 'sent', hand_out_count: 1 },
      { status: 'sent', sent_at: at },
      { hand_out_count: 1, sent_at: at },
      { status: 'failed', failed_at: at, error_code: 'not_delivered', hand_out_count: 1 },
      { status: 'failed', failed_at: at, error_code: 'device_timeout', hand_out_count: 1 },
      { may_have_been_sent: true },
      { status: 'polling', hand_out_count: 3 },
      { status: 'failed', failed_at: at, error_code: 'a reason that does not exist' },
      { status: 'lost' },
    ];
    await assertRefused(wrong.map((columns) => ['messages', { ...queued, ...columns }, '23514'] as const));
    await assertAccepted(messageStatuses.map((status) => ['messages', inStatus(status)] as const));
  });

  it('the schema allows only the steps of the state table between statuses of a message (§3.1/no-other-steps)', async () => {
    const steps = Object.values(messageSteps);
    const move = async (from: Row, to: Row) => {
      const message = sound('messages', from);
      await database.insert('messages', message);
      const columns = Object.entries(to);
      const set = columns.map(([name], index) => `${name} = $${index + 2}`).join(', ');
      const values = [message.id, ...columns.map(([, value]) => value)];
      return database.pool.query(`UPDATE messages SET ${set} WHERE id = $1`, values);
    };
    const empty = { sent_at: null, delivered_at: null, failed_at: null, error_code: null };
    for (const from of messageStatuses) {
      for (const to of messageStatuses) {
        if (from === to) continue;
        const target = {
          ...empty,
          ...inStatus(to),
          hand_out_count: 1,
          may_have_been_sent: to === 'failed',
        };
        const moved = move(
          { ...inStatus(from), ...(from === 'queued' ? { hand_out_count: 1 } : {}) },
          target,
        );
        const allowed = steps.some((step) => step.from === from && step.to === to);
        if (allowed) assert.equal((await moved).rowCount, 1, `${from} to ${to}`);
        else await assertConstraint(moved, /^23514/, `${from} to ${to}`);
      }
    }
    const sent = { ...empty, status: 'sent', sent_at: at };
    const expired = move({ status: 'failed', ...failed }, sent);
    await assertConstraint(expired, /^23514 a message may not go from failed to sent/);
    const fresh = move(queued, sent);
    await assertConstraint(fresh, /^23514 a message may not go from queued to sent/);
  });

  it('the schema allows inserts into the audit log and deletes by its purge, and no other change (§12.6/audit-log)', async () => {
    const { pool } = database;
    // Entries of the demo team may be deleted.
    await pool.query('DELETE FROM demo_team');
    const [older, bound] = [idOf('audit_log'), ids.next('aud')];
    await database.insert('audit_log', sound('audit_log', { id: bound }));
    const purge = `SELECT set_config('ownline.audit_purged_before', '${bound}', true)`;
    const refuse = (change: string) =>
      assertConstraint(
        pool.query(change).finally(() => pool.query('ROLLBACK')),
        /^23514 .*append-only/,
        change,
      );
    await refuse(`UPDATE audit_log SET action = 'team.renamed'`);
    await refuse('DELETE FROM audit_log');
    await refuse('TRUNCATE audit_log');
    await pool.query(`BEGIN; ${purge}; DELETE FROM audit_log WHERE id = '${older}'; COMMIT`);
    await refuse(`BEGIN; ${purge}; DELETE FROM audit_log WHERE id = '${bound}'; COMMIT`);
    await refuse(`BEGIN; ${purge}; UPDATE audit_log SET action = '' WHERE id < '${bound}' OR true; COMMIT`);
    await refuse(`DELETE FROM audit_log WHERE id = '${bound}'`);
    const { rows: left } = await pool.query('SELECT id FROM audit_log ORDER BY id');
    assert.deepEqual(left, [{ id: bound }]);
  });
});
