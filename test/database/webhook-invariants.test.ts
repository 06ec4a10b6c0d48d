import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { Ids } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/service/test-database.ts';

const clock = new Clock();
const ids = new Ids(clock);
const at = clock.now();

/** Rows that the schema refuses from every writer (docs/architecture.md). */
describe('the invariants of webhooks', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  const team = ids.next('team');

  before(async () => {
    database = await createTestDatabase();
    pool = new pg.Pool({ connectionString: database.url, max: 1 });
    await pool.query(`INSERT INTO teams VALUES ($1, 'Example team', 'pro', 100, $2)`, [team, at]);
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });

  async function insert(table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
    const names = Object.keys(row);
    await pool.query(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((_, n) => `$${n + 1}`).join(', ')})`,
      Object.values(row),
    );
  }
  const refused = (writing: Promise<unknown>, constraint: RegExp) =>
    assert.rejects(writing, (error: { constraint?: string }) => constraint.test(error.constraint ?? ''));

  const webhook = (columns: Readonly<Record<string, unknown>> = {}) =>
    insert('webhooks', {
      team_id: team,
      id: ids.next('wh'),
      url: 'https://example.com/',
      events: ['message.sent'],
      secret: Buffer.alloc(1),
      created_at: at,
      ...columns,
    });
  const off = { is_active: false, disabled_at: at, disabled_by: 'member' };

  it('is disabled exactly where it has disabled_at and disabled_by (§3.4/enable-and-disable)', async () => {
    await webhook();
    await webhook(off);
    await refused(webhook({ is_active: false }), /^disabled_has_reason$/);
    await refused(webhook({ ...off, disabled_by: null }), /^disabled_has_reason$/);
    await refused(webhook({ ...off, is_active: true }), /^disabled_has_reason$/);
    await refused(webhook({ ...off, disabled_by: 'nobody' }), /disabled_by/);
  });

  it('is off with ten failures in a row, and has no eleventh (§6.3/failure-count)', async () => {
    await webhook({ ...off, failure_count: 10 });
    await refused(webhook({ failure_count: 10 }), /^tenth_failure_disables$/);
    await refused(webhook({ ...off, failure_count: 11 }), /failure_count/);
  });

  it('has a next secret exactly while a rotation has its end', async () => {
    await webhook({ next_secret: Buffer.alloc(1), next_secret_from: at });
    await refused(webhook({ next_secret: Buffer.alloc(1) }), /^rotation_has_its_end$/);
    await refused(webhook({ next_secret_from: at }), /^rotation_has_its_end$/);
  });

  it('accepts one to six known types of events', async () => {
    await refused(webhook({ events: [] }), /events/);
    await refused(webhook({ events: ['message.read'] }), /events/);
    await refused(webhook({ events: Array(7).fill('message.sent') }), /events/);
  });

  const delivery = (columns: Readonly<Record<string, unknown>> = {}) => ({
    team_id: team,
    id: ids.next('dlv'),
    webhook_id: ids.next('wh'),
    event_id: ids.next('evt'),
    event_type: 'message.sent',
    status: 'pending',
    created_at: at,
    ...columns,
  });

  it('a delivery is open exactly while it is pending', async () => {
    await insert('deliveries', delivery());
    await insert('deliveries', delivery({ status: 'skipped', finished_at: at }));
    await refused(insert('deliveries', delivery({ finished_at: at })), /^pending_is_open$/);
    await refused(insert('deliveries', delivery({ status: 'failed' })), /^pending_is_open$/);
    await refused(insert('deliveries', delivery({ status: 'done', finished_at: at })), /status/);
  });

  it('a delivery waits once at most', async () => {
    const waiting = {
      webhook_id: ids.next('wh'),
      delivery_id: ids.next('dlv'),
      team_id: team,
      event_id: ids.next('evt'),
      due_at: at,
    };
    await insert('due_deliveries', waiting);
    await refused(insert('due_deliveries', { ...waiting, lane: 'manual' }), /^due_deliveries_pkey$/);
    const other = { ...waiting, delivery_id: ids.next('dlv') };
    await refused(insert('due_deliveries', { ...other, lane: 'first' }), /lane/);
    await refused(insert('due_deliveries', { ...other, attempt: 5 }), /attempt/);
    await refused(insert('due_deliveries', { ...other, lease: 1 }), /^leased_by_somebody$/);
  });

  it('keeps 16 KB of an answer at most', async () => {
    const attempt = (bytes: number) => ({
      team_id: team,
      delivery_id: ids.next('dlv'),
      id: ids.next('att'),
      webhook_id: ids.next('wh'),
      started_at: at,
      duration_ms: 1,
      outcome: 'succeeded',
      url: 'https://example.com/',
      response_body: Buffer.alloc(bytes),
      is_counted: true,
    });
    await insert('attempts', attempt(16_384));
    await refused(insert('attempts', attempt(16_385)), /^response_is_capped$/);
  });
});
