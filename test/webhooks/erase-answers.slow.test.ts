import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EventId, parseId, type TeamId } from '#server/platform/ids.ts';
import {
  eraseAnswers,
  listTeamsWithErasedEvents,
  noteErasedEvents,
} from '#server/webhooks/deliveries/erase-answers.ts';
import { untilBlocked } from '#test/support/database/blocked-statements.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { putEventsAtOnce } from '#test/support/service/insert-events.ts';
import { until } from '#test/support/service/until.ts';
import { putAttempts, putWebhook } from '#test/support/webhooks/make-webhooks.ts';
import { attemptsOf, deliveriesOf } from '#test/support/webhooks/stored-deliveries.ts';
import { startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit, eventIdOf, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

describe('answers to erased events (specification section 12.14)', () => {
  const service = givenWebhookService({ ROLES: 'api,deliver' });

  const note = (teamId: TeamId, eventIds: readonly EventId[]) =>
    service.runtime.database.transaction((trx) => noteErasedEvents(trx, { teamId, eventIds }));
  const eraseBatch = (teamId: TeamId) =>
    service.runtime.database.transaction((trx) => eraseAnswers(trx, teamId));

  it('a result that waits while the answers to its event are erased stores no answer (§12.14/erased-answers)', async () => {
    const held: (() => void)[] = [];
    const receiver = await startWebhookReceiver({
      behaviour: (answer, { body }) => void held.push(() => answer.writeHead(200).end(body)),
    });
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    await emit(service.runtime, teamId, ['a secret', 'another']);
    await until('both attempts are in progress', () => held.length === 2);
    const [first] = receiver.received;
    const erased = first && parseId('evt', eventIdOf(first.body));
    assert.ok(erased);
    await note(teamId, [erased]);
    await service.runtime.database.transaction(async (trx) => {
      await eraseAnswers(trx, teamId);
      for (const answer of held) answer();
      await untilBlocked(service, 'webhooks.write-results');
    });
    const attempts = await until('both attempts are recorded', async () => {
      const all = await attemptsOf(service, webhook);
      return all.length === 2 && all;
    });
    const deliveries = await deliveriesOf(service, webhook);
    assertEach(
      deliveries,
      ({ id, eventId }) => [
        eventId === erased,
        attempts.find(({ deliveryId }) => deliveryId === id)?.responseBody === null,
      ],
      deliveries.map(({ eventId }) => [eventId === erased, eventId === erased]),
    );
    await receiver.close();
  });

  it('one batch erases the answers of at most 500 deliveries, and at most 1,000 answers in all (§12.14/erased-answers)', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await putWebhook(service, teamId, ['message.sent'], { isActive: false });
    await putEventsAtOnce(service.runtime, teamId, 620);
    const deliveries = await deliveriesOf(service, webhook);
    const [many, one] = [deliveries[3], deliveries[600]];
    assert.ok(many && one);
    await putAttempts(service, teamId, many.id, 2_500);
    await putAttempts(service, teamId, one.id, 1);
    await note(
      teamId,
      deliveries.map(({ eventId }) => eventId),
    );
    const left: number[] = [];
    do {
      assert.ok(left.length < 20);
      const attempts = await attemptsOf(service, webhook);
      left.push(attempts.filter(({ responseBody }) => responseBody !== null).length);
    } while (await eraseBatch(teamId));
    // The batches erase 1,000 answers twice, then the remaining ones, and then the answers to a hundred events each.
    assert.deepEqual(left, [2_501, 1_501, 501, 1, 1, 1, 1, 1, 1]);
    const attempts = await attemptsOf(service, webhook);
    assert.ok(attempts.every(({ responseBody }) => responseBody === null));
    assert.equal(attempts.length, 2_501);
    const teams = await listTeamsWithErasedEvents(service.runtime.database.pool);
    assert.ok(teams.every(({ team_id }) => team_id !== teamId));
  });
});
