import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type EventType, eventTypes } from '#contract/event.ts';
import { dueDeliveriesChannel, unpublishedEventsChannel } from '#server/database/channels.ts';
import { NotificationListener } from '#server/database/listener.ts';
import type { Transaction } from '#server/database/statement.ts';
import { appendEvents } from '#server/events/append-events.ts';
import type { NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { putWebhook } from '#test/support/webhooks/insert-webhook.ts';

interface DeliveryRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly status: string;
  readonly is_due: boolean;
  readonly finished_with_event: boolean | null;
  readonly of_event_moment: boolean;
}

const [phoneNumber, otherNumber] = ['+14155550100', '+14155550110'];

describe('append (specification sections 6.1 and 6.3, decision 0017)', () => {
  // Nobody publishes and nobody delivers: what was written stays to be looked at.
  let service: TestService;
  let teamId: TeamId;
  let numberId: NumberId;

  before(async () => {
    service = await startTestService({ ROLES: 'api' });
  });
  after(() => service.close());
  beforeEach(async () => {
    teamId = (await service.newTeam()).id;
    numberId = await putNumber(teamId, phoneNumber);
  });

  async function putNumber(owner: TeamId, number: string): Promise<NumberId> {
    const id = service.runtime.ids.next('num');
    await service.query(
      `INSERT INTO numbers (team_id, id, phone_number, created_at, pending_until) VALUES ($1, $2, $3, $4, $4)`,
      [owner, id, number, service.clock.now()],
    );
    return id;
  }

  const write = (trx: Transaction, types: readonly EventType[], from = numberId) =>
    appendEvents(
      trx,
      service.runtime,
      types.map((type, index) => ({
        teamId,
        numberId: from,
        messageId: service.runtime.ids.next('msg'),
        type,
        sequence: index + 1,
        data: { content: 'Hello' },
      })),
    );
  const commit = (types: readonly EventType[], from = numberId) =>
    service.runtime.database.transaction((trx) => write(trx, types, from));

  const deliveries = () =>
    service.query<DeliveryRow>(
      `SELECT d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.finished_at = e.created_at AS finished_with_event,
         substr(d.id::text, 1, 28) = substr(e.id::text, 1, 28) AND d.created_at = e.created_at AS of_event_moment,
         EXISTS (SELECT FROM due_deliveries q WHERE q.webhook_id = d.webhook_id AND q.delivery_id = d.id AND q.lane = 'live'
           AND q.event_id = e.id AND q.team_id = e.team_id AND q.attempt = 1 AND q.due_at = e.created_at AND q.lease IS NULL) AS is_due
       FROM deliveries d JOIN events e ON e.team_id = d.team_id AND e.id = d.event_id WHERE d.team_id = $1 ORDER BY d.id`,
      [teamId],
    );
  const count = async (table: 'events' | 'unpublished_events' | 'due_deliveries') =>
    (await service.query(`SELECT FROM ${table} WHERE team_id = $1`, [teamId])).length;

  it('writes one delivery for each webhook that wants the type, and none for the others (§6.3/request-format)', async () => {
    const both = await putWebhook(service, teamId, ['message.sent', 'message.failed']);
    const all = await putWebhook(service, teamId, eventTypes);
    await putWebhook(service, teamId, ['message.received']);
    const stranger = (await service.newTeam()).id;
    await putWebhook(service, stranger, eventTypes);
    await commit(['message.sent', 'message.delivered', 'message.failed']);
    const rows = await deliveries();
    assert.deepEqual(rows.map((row) => `${row.event_type} ${row.webhook_id}`).sort(), [
      `message.delivered ${all.id}`,
      ...[both.id, all.id].sort().map((id) => `message.failed ${id}`),
      ...[both.id, all.id].sort().map((id) => `message.sent ${id}`),
    ]);
    assert.ok(rows.every((row) => row.status === 'pending' && row.is_due && row.of_event_moment));
    assert.equal(await count('due_deliveries'), 5);
    assert.equal(await count('unpublished_events'), 3);
  });

  it('writes for a webhook of one number only what that number does, also after it was connected again (§6.3/request-format)', async () => {
    const mine = await putWebhook(service, teamId, eventTypes, { phoneNumber });
    await putWebhook(service, teamId, eventTypes, { phoneNumber: otherNumber });
    await commit(['message.sent']);
    await service.query('UPDATE numbers SET deleted_at = created_at WHERE id = $1', [numberId]);
    await commit(['message.failed'], await putNumber(teamId, phoneNumber));
    assert.deepEqual(
      (await deliveries()).map((row) => `${row.event_type} ${row.webhook_id}`),
      [`message.sent ${mine.id}`, `message.failed ${mine.id}`],
    );
  });

  it('writes the delivery of a webhook that is off as skipped, and nothing that is due (§6.3/failure-count)', async () => {
    await putWebhook(service, teamId, eventTypes, { isActive: false });
    await commit(['message.sent']);
    const [row, ...others] = await deliveries();
    assert.deepEqual([row?.status, row?.finished_with_event, row?.is_due], ['skipped', true, false]);
    assert.equal(others.length + (await count('due_deliveries')), 0);
  });

  it('deliveries sort as their events do, and no two are the same, however many come in one moment', async () => {
    for (let webhooks = 0; webhooks < 3; webhooks += 1) await putWebhook(service, teamId, eventTypes);
    await commit(Array.from({ length: 200 }, () => 'message.sent'));
    const rows = await deliveries();
    assert.equal(rows.length, 600);
    const events = rows.map((row) => row.event_id);
    assert.deepEqual(events, events.toSorted());
    const written = await service.query<{ event_id: string }>(
      'SELECT event_id FROM unpublished_events WHERE team_id = $1 ORDER BY seq',
      [teamId],
    );
    assert.deepEqual(
      written.map((row) => row.event_id),
      [...new Set(events)],
    );
  });

  it('a rollback takes event, deliveries and what waits along (§6.1/one-per-change)', async () => {
    await putWebhook(service, teamId, eventTypes);
    const undone = service.runtime.database.transaction(async (trx) => {
      await write(trx, ['message.sent']);
      throw new Error('undone');
    });
    await assert.rejects(undone, /undone/);
    assert.deepEqual(await deliveries(), []);
    assert.equal(
      (await count('events')) + (await count('unpublished_events')) + (await count('due_deliveries')),
      0,
    );
  });

  it('wakes the publisher and who delivers after the commit, and nobody before it or after a rollback', async (t) => {
    await putWebhook(service, teamId, ['message.sent']);
    const heard: string[] = [];
    const notifications = new NotificationListener(service.databaseUrl, createLogger('fatal'));
    t.after(() => notifications.stop());
    for (const channel of [dueDeliveriesChannel, unpublishedEventsChannel, 'after_all']) {
      notifications.on(channel, () => heard.push(channel));
    }
    await notifications.start();
    // Which tells every listener to look.
    heard.splice(0);
    // What was said before it listened, and by whom it is not, is told apart by a note that comes behind it.
    const heardUntilNow = async () => {
      service.runtime.database.notify('after_all', []);
      await until('the note', () => heard.includes('after_all'));
      return heard.splice(0).filter((channel) => channel !== 'after_all');
    };
    await heardUntilNow();
    await service.runtime.database.transaction(async (trx) => {
      await write(trx, ['message.sent']);
      assert.deepEqual(await heardUntilNow(), []);
    });
    assert.deepEqual((await heardUntilNow()).sort(), [dueDeliveriesChannel, unpublishedEventsChannel]);
    await commit(['message.failed']);
    assert.deepEqual(await heardUntilNow(), [unpublishedEventsChannel]);
    await service.runtime.database
      .transaction(async (trx) => {
        await write(trx, ['message.sent']);
        throw new Error('undone');
      })
      .catch(() => undefined);
    assert.deepEqual(await heardUntilNow(), []);
  });
});
