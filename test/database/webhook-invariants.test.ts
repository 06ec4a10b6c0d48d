import { describe, it } from 'node:test';
import { Ids } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { assertConstraint, openBareDatabase } from '#test/support/database/bare-database.ts';
import { given } from '#test/support/service/given.ts';

const clock = new Clock();
const ids = new Ids(clock);
const at = clock.now();

/** Rows that the schema refuses from every writer (docs/architecture.md). */
describe('the invariants of webhooks', () => {
  const database = given(openBareDatabase);

  const webhook = (columns: Readonly<Record<string, unknown>> = {}) =>
    database.insert('webhooks', {
      team_id: database.team,
      id: ids.next('wh'),
      url: 'https://example.com/',
      events: ['message.sent'],
      secret: Buffer.alloc(1),
      created_at: at,
      ...columns,
    });
  const off = { is_active: false, disabled_at: at, disabled_by: 'member' };

  it('the schema requires disabled_at and disabled_by exactly for disabled webhooks (§3.4/enable-and-disable)', async () => {
    await webhook();
    await webhook(off);
    await assertConstraint(webhook({ is_active: false }), /^23514 disabled_has_reason$/);
    await assertConstraint(webhook({ ...off, disabled_by: null }), /^23514 disabled_has_reason$/);
    await assertConstraint(webhook({ ...off, is_active: true }), /^23514 disabled_has_reason$/);
    await assertConstraint(webhook({ ...off, disabled_by: 'nobody' }), /disabled_by/);
  });

  it('the schema refuses an active webhook with ten failures in a row, and an eleventh failure (§6.3/failure-count)', async () => {
    await webhook({ ...off, failure_count: 10 });
    await assertConstraint(webhook({ failure_count: 10 }), /^23514 tenth_failure_disables$/);
    await assertConstraint(webhook({ ...off, failure_count: 11 }), /failure_count/);
  });

  it('the schema accepts a next secret only with an end of the rotation, and that end only with a next secret', async () => {
    await webhook({ next_secret: Buffer.alloc(1), next_secret_from: at });
    await assertConstraint(webhook({ next_secret: Buffer.alloc(1) }), /^23514 rotation_has_its_end$/);
    await assertConstraint(webhook({ next_secret_from: at }), /^23514 rotation_has_its_end$/);
  });

  it('the schema refuses a webhook without events, with unknown ones or with more than eight', async () => {
    await assertConstraint(webhook({ events: [] }), /events/);
    await assertConstraint(webhook({ events: ['message.read'] }), /events/);
    await assertConstraint(webhook({ events: Array(9).fill('message.sent') }), /events/);
  });

  const delivery = (columns: Readonly<Record<string, unknown>> = {}) => ({
    team_id: database.team,
    id: ids.next('dlv'),
    webhook_id: ids.next('wh'),
    event_id: ids.next('evt'),
    event_type: 'message.sent',
    status: 'pending',
    created_at: at,
    ...columns,
  });

  it('the schema refuses a pending delivery with an end time, and a finished delivery without one', async () => {
    await database.insert('deliveries', delivery());
    await database.insert('deliveries', delivery({ status: 'skipped', finished_at: at }));
    await assertConstraint(
      database.insert('deliveries', delivery({ finished_at: at })),
      /^23514 pending_is_open$/,
    );
    await assertConstraint(
      database.insert('deliveries', delivery({ status: 'failed' })),
      /^23514 pending_is_open$/,
    );
    await assertConstraint(
      database.insert('deliveries', delivery({ status: 'done', finished_at: at })),
      /status/,
    );
  });

  it('the schema refuses a second row of one delivery in the queue', async () => {
    const waiting = {
      webhook_id: ids.next('wh'),
      delivery_id: ids.next('dlv'),
      team_id: database.team,
      event_id: ids.next('evt'),
      due_at: at,
    };
    await database.insert('due_deliveries', waiting);
    await assertConstraint(
      database.insert('due_deliveries', { ...waiting, lane: 'manual' }),
      /^23505 due_deliveries_pkey$/,
    );
    const other = { ...waiting, delivery_id: ids.next('dlv') };
    await assertConstraint(database.insert('due_deliveries', { ...other, lane: 'first' }), /lane/);
    await assertConstraint(database.insert('due_deliveries', { ...other, attempt: 5 }), /attempt/);
    await assertConstraint(
      database.insert('due_deliveries', { ...other, lease: 1 }),
      /^23514 leased_by_somebody$/,
    );
  });

  it('the schema refuses an attempt with more than 16 KB of an answer', async () => {
    const tried = delivery();
    await database.insert('deliveries', tried);
    const attempt = (bytes: number) => ({
      team_id: database.team,
      delivery_id: tried.id,
      id: ids.next('att'),
      started_at: at,
      duration_ms: 1,
      outcome: 'succeeded',
      url: 'https://example.com/',
      response_body: Buffer.alloc(bytes),
      is_counted: true,
    });
    await database.insert('attempts', attempt(16_384));
    await assertConstraint(database.insert('attempts', attempt(16_385)), /^23514 response_is_capped$/);
  });
});
