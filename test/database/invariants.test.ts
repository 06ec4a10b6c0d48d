import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type MessageStatus, messageStatuses } from '#contract/message.ts';
import { messageSteps } from '#server/messages/message-status.ts';
import { Ids } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { assertConstraint } from '#test/support/database/bare-database.ts';
import { givenDatabase } from '#test/support/database/given-database.ts';
import { given } from '#test/support/service/given.ts';

const clock = new Clock();
const ids = new Ids(clock);
const at = clock.now();
const hash = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32)));

describe('the invariants of the schema (docs/architecture.md)', () => {
  const { service } = givenDatabase(2);
  const pool = given(() => service.pool);
  let team: string;
  let otherTeam: string;
  let number: string;
  let otherNumber: string;

  before(async () => {
    team = await insertTeam();
    otherTeam = await insertTeam();
    number = await insertNumber(team, '+14155550100', true);
    otherNumber = await insertNumber(otherTeam, '+14155550101', true);
  });

  async function insertTeam(): Promise<string> {
    const id = ids.next('team');
    await pool.query(
      `INSERT INTO teams VALUES ($1, 'Example team', 'pro', 100, $2, substr(gen_random_uuid()::text, 1, 4))`,
      [id, at],
    );
    return id;
  }

  async function insertNumber(teamId: string, phone: string, verified: boolean): Promise<string> {
    const id = ids.next('num');
    await pool.query(
      `INSERT INTO numbers (team_id, id, phone_number, verified_at, pending_until, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
      [teamId, id, phone, verified ? at : null, verified ? null : at, at],
    );
    return id;
  }

  /** Inserts a message that satisfies every CHECK, except for the given columns. */
  async function insertMessage(columns: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const row: Record<string, unknown> = {
      team_id: team,
      id: ids.next('msg'),
      number_id: number,
      direction: 'outbound',
      from_handle: '+14155550100',
      to_handle: '+14155550102',
      content: 'Hello',
      status: 'queued',
      created_at: at,
      ...columns,
    };
    const names = Object.keys(row);
    const places = names.map((_, index) => `$${index + 1}`);
    await pool.query(
      `INSERT INTO messages (${names.join(', ')}) VALUES (${places.join(', ')})`,
      Object.values(row),
    );
    return String(row.id);
  }

  /** The columns that a status requires. */
  const inStatus = (status: MessageStatus): Record<string, unknown> => ({
    status,
    hand_out_count: status === 'queued' ? 0 : 1,
    direction: status === 'received' ? 'inbound' : 'outbound',
    ...(status === 'received' ? { hand_out_count: 0 } : {}),
    ...(status === 'sent' || status === 'delivered' ? { sent_at: at } : {}),
    ...(status === 'delivered' ? { delivered_at: at } : {}),
    ...(status === 'failed' ? { failed_at: at, error_code: 'device_timeout', may_have_been_sent: true } : {}),
  });

  it('the schema refuses a number’s second message in flight', async () => {
    const flight = (messageId: string) =>
      pool.query(
        `INSERT INTO in_flight (number_id, team_id, message_id, hand_out, device_id, session_id, poll_sequence, seq, handed_out_at, leased_until)
         VALUES ($1, $2, $3, 1, $4, $4, 1, 1, $5, $5)`,
        [number, team, messageId, ids.next('dev'), at],
      );
    await flight(ids.next('msg'));
    await assertConstraint(flight(ids.next('msg')), /^23505 in_flight_pkey/);
    await pool.query('DELETE FROM in_flight');
  });

  it('the schema refuses a second verified number with the same phone number, and allows pending ones', async () => {
    await assertConstraint(insertNumber(otherTeam, '+14155550100', true), /^23505 numbers_one_verified/);
    const pending = await insertNumber(otherTeam, '+14155550100', false);
    await assertConstraint(
      pool.query('UPDATE numbers SET verified_at = $2, pending_until = NULL WHERE id = $1', [pending, at]),
      /^23505 numbers_one_verified/,
    );
  });

  it('the schema refuses a phone number that the team has already', async () => {
    await assertConstraint(insertNumber(team, '+14155550100', false), /^23505 numbers_one_per_team/);
  });

  it('the schema refuses a simulated number outside the range for fiction, and a team’s second one', async () => {
    const team = await insertTeam();
    const simulate = async (phone: string) =>
      pool.query('UPDATE numbers SET is_simulated = true WHERE id = $1', [
        await insertNumber(team, phone, false),
      ]);
    for (const phone of ['+14155550200', '+447911550100', '+11155550100'])
      await assertConstraint(simulate(phone), /^23514 simulated_is_fictional/);
    await simulate('+14155550150');
    await assertConstraint(simulate('+14155550151'), /^23505 numbers_one_simulated/);
  });

  it('the schema refuses another number in a test team than the test line, the test line elsewhere, and a second test team (§5.4/test-line)', async () => {
    const testTeam = async (of: string) => {
      const id = await insertTeam();
      await pool.query('INSERT INTO test_teams (test_team_id, team_id) VALUES ($1, $2)', [id, of]);
      return id;
    };
    const insertLine = (teamId: string, phone: string) =>
      pool.query(
        `INSERT INTO numbers (team_id, id, phone_number, verified_at, created_at, is_simulated) VALUES ($1, $2, $3, $4, $4, true)`,
        [teamId, ids.next('num'), phone, at],
      );
    const [own, others] = [await testTeam(team), await testTeam(otherTeam)];
    await assertConstraint(insertLine(own, '+14155550152'), /^23514 numbers_test_line/);
    for (const id of [own, others]) await insertLine(id, '+15005550100');
    await assertConstraint(insertNumber(own, '+14155550152', false), /^23514 numbers_test_line/);
    await assertConstraint(insertLine(team, '+15005550100'), /^23514 numbers_test_line/);
    await assertConstraint(testTeam(team), /^23505 test_teams_pkey/);
  });

  it('the schema refuses a number that is both verified and pending, or neither', async () => {
    const both = pool.query('UPDATE numbers SET pending_until = $2 WHERE id = $1', [number, at]);
    await assertConstraint(both, /^23514 numbers_check/);
    const neither = pool.query('UPDATE numbers SET verified_at = NULL WHERE id = $1', [number]);
    await assertConstraint(neither, /^23514 numbers_check/);
  });

  it('the schema refuses a row that refers to another team’s row', async () => {
    await assertConstraint(insertMessage({ number_id: otherNumber }), /^23503/);
    const session = pool.query(
      `INSERT INTO setup_links (team_id, id, number_id, token_hash, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $5)`,
      [team, ids.next('link'), otherNumber, hash(), at],
    );
    await assertConstraint(session, /^23503 setup_links_team_id_number_id_fkey/);
    const flight = pool.query(
      `INSERT INTO in_flight (number_id, team_id, message_id, hand_out, device_id, session_id, poll_sequence, seq, handed_out_at, leased_until)
       VALUES ($1, $2, $3, 1, $3, $3, 1, 1, $4, $4)`,
      [otherNumber, team, ids.next('msg'), at],
    );
    await assertConstraint(flight, /^23503 in_flight_team_id_number_id_fkey/);
  });

  it('the schema refuses an event of an unknown message, and the deletion of a message that has one', async () => {
    const message = await insertMessage();
    const append = (teamId: string, messageId: string) =>
      pool.query(
        `INSERT INTO events (team_id, id, type, message_id, number_id, sequence, data, created_at)
         VALUES ($1, $2, 'message.sent', $3, $4, 1, '{}', $5)`,
        [teamId, ids.next('evt'), messageId, number, at],
      );
    const key = /^23503 events_team_id_message_id_fkey/;
    await assertConstraint(append(team, ids.next('msg')), key);
    await assertConstraint(append(otherTeam, message), key);
    await append(team, message);
    const remove = () => pool.query('DELETE FROM messages WHERE id = $1', [message]);
    await assertConstraint(remove(), key);
    await pool.query('DELETE FROM events WHERE message_id = $1', [message]);
    assert.equal((await remove()).rowCount, 1);
  });

  it('the schema requires exactly the times and reasons of a message’s status (§2.6/state-times)', async () => {
    const wrong: Record<string, unknown>[] = [
      { status: 'received' },
      { status: 'queued', direction: 'inbound' },
      { status: 'failed', failed_at: at },
      { status: 'failed', error_code: 'expired' },
      { status: 'queued', failed_at: at, error_code: 'expired' },
      { status: 'delivered', hand_out_count: 1, sent_at: at },
      { status: 'delivered', hand_out_count: 1, delivered_at: at },
      { status: 'sent', hand_out_count: 1 },
      { status: 'sent', sent_at: at },
      { status: 'queued', hand_out_count: 1, sent_at: at },
      { status: 'failed', failed_at: at, error_code: 'not_delivered', hand_out_count: 1 },
      { status: 'failed', failed_at: at, error_code: 'device_timeout', hand_out_count: 1 },
      { status: 'queued', may_have_been_sent: true },
      { status: 'polling', hand_out_count: 3 },
      { status: 'failed', failed_at: at, error_code: 'a reason that does not exist' },
      { status: 'lost' },
    ];
    for (const columns of wrong) {
      await assertConstraint(insertMessage(columns), /^23514/, JSON.stringify(columns));
    }
    for (const status of messageStatuses) await insertMessage(inStatus(status));
  });

  it('the schema allows only the steps of the state table between statuses of a message (§3.1/no-other-steps)', async () => {
    const steps = Object.values(messageSteps);
    for (const from of messageStatuses) {
      for (const to of messageStatuses) {
        if (from === to) continue;
        const id = await insertMessage({
          ...inStatus(from),
          ...(from === 'queued' ? { hand_out_count: 1 } : {}),
        });
        const target = {
          sent_at: null,
          delivered_at: null,
          failed_at: null,
          error_code: null,
          ...inStatus(to),
        };
        const columns = Object.entries({ ...target, hand_out_count: 1, may_have_been_sent: to === 'failed' });
        const set = columns.map(([name], index) => `${name} = $${index + 2}`).join(', ');
        const moved = pool.query(`UPDATE messages SET ${set} WHERE id = $1`, [
          id,
          ...columns.map(([, value]) => value),
        ]);
        const allowed = steps.some((step) => step.from === from && step.to === to);
        if (allowed) assert.equal((await moved).rowCount, 1, `${from} to ${to}`);
        else await assertConstraint(moved, /^23514/, `${from} to ${to}`);
      }
    }
  });

  it('the schema allows only device_timeout to leave failed, and only handed-out messages to go from queued to sent (§3.1/no-other-steps)', async () => {
    const expired = await insertMessage({
      status: 'failed',
      failed_at: at,
      error_code: 'expired',
      hand_out_count: 1,
    });
    const revived = pool.query(
      `UPDATE messages SET status = 'sent', sent_at = $2, failed_at = NULL, error_code = NULL WHERE id = $1`,
      [expired, at],
    );
    await assertConstraint(revived, /^23514 a message may not go from failed to sent/);
    const fresh = await insertMessage();
    const skipped = pool.query(
      `UPDATE messages SET status = 'sent', sent_at = $2, hand_out_count = 1 WHERE id = $1`,
      [fresh, at],
    );
    await assertConstraint(skipped, /^23514 a message may not go from queued to sent/);
  });

  it('the schema refuses a third hand-out of a message (§3.2/handed-out-once)', async () => {
    const third = pool.query(
      `INSERT INTO hand_outs (message_id, hand_out, team_id, device_id, session_id, handed_out_at)
       VALUES ($1, 3, $2, $1, $1, $3)`,
      [ids.next('msg'), team, at],
    );
    await assertConstraint(third, /^23514 hand_outs_hand_out_check/);
  });

  it('the schema refuses equal Idempotency-Keys, device-given ids and setup links', async () => {
    const key = () =>
      pool.query(`INSERT INTO idempotency_keys VALUES ($1, 'key', $2, $3, $4)`, [
        team,
        ids.next('msg'),
        hash(),
        at,
      ]);
    await key();
    await assertConstraint(key(), /^23505 idempotency_keys_pkey/);
    const given = () =>
      pool.query(`INSERT INTO inbound_ids VALUES ($1, $2, sha256('given'), $3)`, [
        team,
        number,
        ids.next('msg'),
      ]);
    await given();
    await assertConstraint(given(), /^23505 inbound_ids_pkey/);
    const link = ids.next('link');
    await pool.query(
      `INSERT INTO setup_links (team_id, id, number_id, token_hash, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $5)`,
      [team, link, number, hash(), at],
    );
    const device = () =>
      pool.query(
        `INSERT INTO devices (team_id, id, number_id, setup_link_id, token_hash, generation, created_at) VALUES ($1, $2, $3, $4, $5, 1, $6)`,
        [team, ids.next('dev'), number, link, hash(), at],
      );
    await device();
    await assertConstraint(device(), /^23505 devices_team_id_setup_link_id_key/);
  });

  it('the schema requires a body of a waiting mail, and refuses one of a sent or given up mail', async () => {
    const id = ids.next('mail');
    await pool.query(
      `INSERT INTO mails (id, recipient, body, created_at, next_attempt_at) VALUES ($1, 'ada@example.com', $2, $3, $3)`,
      [id, hash(), at],
    );
    const set = (columns: string) => pool.query(`UPDATE mails SET ${columns} WHERE id = $1`, [id]);
    const [sent, failed] = ['sent_at = created_at', 'failed_at = created_at'];
    for (const columns of ['body = NULL', sent, failed]) {
      await assertConstraint(set(columns), /^23514 body_while_open/, columns);
    }
    await assertConstraint(set(`${sent}, ${failed}, body = NULL`), /^23514 mail_ends_once/);
    const leased = 'leased_until = created_at';
    await assertConstraint(set(`${sent}, body = NULL, ${leased}`), /^23514 leased_while_open/);
    await set(leased);
    await set(`${sent}, body = NULL, leased_until = NULL`);
    await assertConstraint(set(`body = sha256('x')`), /^23514 body_while_open/);
  });

  it('the schema refuses a negative usage, and a month that does not begin on its first day', async () => {
    await pool.query(`INSERT INTO usage_months VALUES ($1, '2026-11-01')`, [team]);
    const below = pool.query('UPDATE usage_months SET accepted = accepted - 1 WHERE team_id = $1', [team]);
    await assertConstraint(below, /^23514 usage_months_accepted_check/);
    const middle = pool.query(`INSERT INTO usage_months VALUES ($1, '2026-11-15')`, [team]);
    await assertConstraint(middle, /^23514 usage_months_month_check/);
  });

  it('the schema allows only inserts into the audit log, and deletes by a purge of its retention (§12.6/audit-log)', async () => {
    const insert = async () => {
      const id = ids.next('aud');
      await pool.query(
        `INSERT INTO audit_log (id, team_id, actor_kind, actor_id, actor_name, action, target, details, outcome, ip, request_id, created_at)
         VALUES ($1, $2, 'operator', '', '', 'team.created', '', '{}', 'done', '', '', $3)`,
        [id, team, at],
      );
      return id;
    };
    const older = await insert();
    const bound = await insert();
    const changes = [
      `UPDATE audit_log SET action = 'team.renamed'`,
      'DELETE FROM audit_log',
      'TRUNCATE audit_log',
      `UPDATE audit_log SET action = 'team.renamed' WHERE team_id IS NULL OR true`,
    ];
    for (const change of changes) {
      await assertConstraint(pool.query(change), /^23514 .*append-only/, change);
    }
    const purge = `SELECT set_config('ownline.audit_purged_before', '${bound}', true)`;
    await pool.query(`BEGIN; ${purge}; DELETE FROM audit_log WHERE id = '${older}'; COMMIT`);
    for (const change of [
      `BEGIN; ${purge}; DELETE FROM audit_log WHERE id = '${bound}'; COMMIT`,
      `BEGIN; ${purge}; UPDATE audit_log SET action = '' WHERE id < '${bound}' OR true; COMMIT`,
      `DELETE FROM audit_log WHERE id = '${bound}'`,
    ])
      await assertConstraint(
        pool.query(change).finally(() => pool.query('ROLLBACK')),
        /^23514 .*append-only/,
        change,
      );
    const { rows } = await pool.query('SELECT id FROM audit_log ORDER BY id');
    assert.deepEqual(rows, [{ id: bound }]);
  });
});
