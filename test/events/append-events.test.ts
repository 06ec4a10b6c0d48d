import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { eventTypes, type MessageEventType } from '#contract/event.ts';
import type { Transaction } from '#server/database/query.ts';
import type { NumberId, TeamId } from '#server/platform/ids.ts';
import { storedEvents, unpublishedEvents } from '#test/support/events/stored-events.ts';
import { markNumberDeleted, putNumber } from '#test/support/numbers/given-numbers.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { appendWithMessages } from '#test/support/service/insert-events.ts';
import { putWebhook } from '#test/support/webhooks/make-webhooks.ts';
import { countDue, writtenDeliveries } from '#test/support/webhooks/stored-deliveries.ts';

const [phoneNumber, otherNumber] = ['+14155550100', '+14155550110'];

describe('appending events (specification sections 6.1 and 6.3, decision 0017)', () => {
  // No process publishes or delivers events, so the written rows stay as they are.
  let teamId: TeamId;
  let numberId: NumberId;
  const service = givenService({ ROLES: 'api' });
  beforeEach(async () => {
    teamId = (await service.newTeam()).id;
    numberId = await putNumber(service, teamId, phoneNumber, { isPending: true });
  });

  const write = (trx: Transaction, types: readonly MessageEventType[], from = numberId) =>
    appendWithMessages(
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
  const commit = (types: readonly MessageEventType[], from = numberId) =>
    service.runtime.database.transaction((trx) => write(trx, types, from));

  const deliveries = () => writtenDeliveries(service, teamId);
  const due = () => countDue(service, teamId);
  const unpublished = () => unpublishedEvents(service, teamId);

  it('an event gets one delivery for each webhook that subscribes to its type, and no other (§6.3/request-format)', async () => {
    const both = await putWebhook(service, teamId, ['message.sent', 'message.failed']);
    const all = await putWebhook(service, teamId, eventTypes);
    await putWebhook(service, teamId, ['message.received']);
    const stranger = (await service.newTeam()).id;
    await putWebhook(service, stranger, eventTypes);
    await commit(['message.sent', 'message.delivered', 'message.failed']);
    const rows = await deliveries();
    assert.deepEqual(rows.map((row) => `${row.eventType} ${row.webhookId}`).sort(), [
      `message.delivered ${all.id}`,
      ...[both.id, all.id].sort().map((id) => `message.failed ${id}`),
      ...[both.id, all.id].sort().map((id) => `message.sent ${id}`),
    ]);
    assert.ok(rows.every((row) => row.status === 'pending' && row.isDue && row.isOfEventMoment));
    assert.equal(await due(), 5);
    assert.equal((await unpublished()).length, 3);
  });

  it('a webhook of one number gets only events of that number, even after it was connected again (§6.3/request-format)', async () => {
    const mine = await putWebhook(service, teamId, eventTypes, { phoneNumber });
    await putWebhook(service, teamId, eventTypes, { phoneNumber: otherNumber });
    await commit(['message.sent']);
    await markNumberDeleted(service, numberId);
    await commit(['message.failed'], await putNumber(service, teamId, phoneNumber, { isPending: true }));
    assertEach(await deliveries(), (row) => `${row.eventType} ${row.webhookId}`, [
      `message.sent ${mine.id}`,
      `message.failed ${mine.id}`,
    ]);
  });

  it('the delivery for a disabled webhook is written as skipped, and is not queued (§6.3/failure-count)', async () => {
    await putWebhook(service, teamId, eventTypes, { isActive: false });
    await commit(['message.sent']);
    const [row, ...others] = await deliveries();
    assert.deepEqual([row?.status, row?.isFinishedWithEvent, row?.isDue], ['skipped', true, false]);
    assert.equal(others.length + (await due()), 0);
  });

  it('deliveries have different ids that sort in the order of their events, however many are written at once', async () => {
    for (let webhooks = 0; webhooks < 3; webhooks += 1) await putWebhook(service, teamId, eventTypes);
    await commit(Array.from({ length: 200 }, () => 'message.sent'));
    const rows = await deliveries();
    assert.equal(rows.length, 600);
    const events = rows.map((row) => row.eventId);
    assert.deepEqual(events, events.toSorted());
    assert.deepEqual(await unpublished(), [...new Set(events)]);
  });

  it('a rollback removes the event, its deliveries and their queue rows (§6.1/one-per-change)', async () => {
    await putWebhook(service, teamId, eventTypes);
    const undone = service.runtime.database.transaction(async (trx) => {
      await write(trx, ['message.sent']);
      throw new Error('undone');
    });
    await assert.rejects(undone, /undone/);
    assert.deepEqual(await deliveries(), []);
    assert.deepEqual(await storedEvents(service, { teamId }), []);
    assert.deepEqual([await unpublished(), await due()], [[], 0]);
  });
});
