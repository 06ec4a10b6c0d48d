import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type EventId, publicId } from '#server/platform/ids.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import { releaseDelivery, skipDelivery } from '#server/webhooks/dispatch/claim-deliveries.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { claimFromAll, dropDueDeliveries, moveToLanes } from '#test/support/webhooks/given-due-deliveries.ts';
import { pausedAfter } from '#test/support/webhooks/paused-dispatcher.ts';
import {
  attemptsOf,
  deliveriesOf,
  dueDeliveries,
  settled,
} from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';
import { silent, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

describe('attempts of deliveries (§6.3/request-format)', () => {
  const receiver = given(startWebhookReceiver);
  const service = givenWebhookService();

  it('an event is sent once, with the stored bytes, and its delivery then has the status succeeded (§6.2/envelope)', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    await emit(service.runtime, teamId, ['Hello']);
    const [delivery] = await receiver.count(1);
    await settled(service, webhook);
    const [event] = await storedEvents(service, { teamId });
    assert.deepEqual(delivery?.body, Buffer.from(String(event?.body), 'utf8'));
    const [attempt, ...more] = await attemptsOf(service, webhook);
    assert.deepEqual(more, []);
    assert.deepEqual(
      [attempt?.outcome, attempt?.statusCode, attempt?.url, attempt?.isCounted],
      ['succeeded', 200, receiver.url, true],
    );
    const [row] = await deliveriesOf(service, webhook);
    assert.deepEqual([row?.status, row?.attemptCount], ['succeeded', 1]);
    assert.ok(row?.finishedAt);
    await until(
      'last_triggered_at is written',
      async () => (await stateOf(service, webhook)).lastTriggeredAt,
    );
  });

  it('an attempt is a POST with exactly the headers of its event and its signatures', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    const before = receiver.received.length;
    await emit(service.runtime, teamId, ['Grüße 👋'], 'message.received');
    const delivery = (await receiver.count(before + 1)).at(-1);
    const [row] = await deliveriesOf(service, webhook);
    assert.ok(delivery && row);
    const { headers, body } = delivery;
    const timestamp = headers['webhook-timestamp'];
    assert.deepEqual(headers, {
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': String(body.length),
      'user-agent': `Ownline/${productVersion}`,
      'x-service-event': 'message.received',
      'x-service-signature': `sha256=${createHmac('sha256', webhook.secret).update(body).digest('hex')}`,
      'webhook-id': publicId('evt', row.eventId as EventId),
      'webhook-timestamp': timestamp,
      'webhook-signature': headers['webhook-signature'],
    });
    new Webhook(webhook.secret).verify(body.toString('utf8'), headers as Record<string, string>);
    await settled(service, webhook);
    const [attempt] = await attemptsOf(service, webhook);
    assert.equal(timestamp, String(Math.floor((attempt?.startedAt.getTime() ?? 0) / 1_000)));
  });
});

describe('leases of deliveries (specification section 6.3, decision 0017)', () => {
  const receiver = given(startWebhookReceiver);
  const service = givenWebhookService({ ROLES: 'api' });

  it('a process that pauses beyond the end of its lease sends nothing, as the webhook may have changed (§6.3/interrupted-attempts)', async () => {
    const { id: teamId, api } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    await emit(service.runtime, teamId, ['Hello']);
    let isPaused = false;
    const { dispatcher, outbound } = pausedAfter(service.runtime, async () => {
      if (isPaused) return;
      isPaused = true;
      service.clock.advance(60_000);
      const { status } = await api.put(`/v1/webhooks/${publicId('wh', webhook.id)}`, { active: false });
      assert.equal(status, 200);
    });
    dispatcher.start();
    dispatcher.notify();
    await settled(service, webhook);
    // The stop waits for the attempt in progress.
    await dispatcher.stop();
    await outbound.close();
    assert.ok(isPaused);
    assert.equal(receiver.received.length, 0);
    assert.equal((await attemptsOf(service, webhook)).length, 0);
    assert.equal((await deliveriesOf(service, webhook))[0]?.status, 'skipped');
  });

  for (const lane of ['live', 'manual'] as const) {
    it(`a ${lane} attempt that a stop aborts is logged, does not count, and is made again by the next process (§6.3/interrupted-attempts)`, async (t) => {
      const { id: teamId } = await service.newTeam();
      const silentOne = await startWebhookReceiver({ behaviour: silent });
      const { dispatcher, outbound } = pausedAfter(service.runtime, async () => undefined);
      t.after(() => outbound.close());
      t.after(() => silentOne.close());
      const webhook = await addWebhook(service.runtime, teamId, silentOne.url);
      await emit(service.runtime, teamId, ['Hello']);
      await moveToLanes(service, webhook.id, lane);
      dispatcher.start();
      dispatcher.notify();
      await silentOne.count(1);
      const stopped = dispatcher.stop();
      const [attempt] = await until('it is broken off', async () => {
        service.clock.advance(1_000);
        const attempts = await attemptsOf(service, webhook);
        return attempts.length > 0 && attempts;
      });
      await stopped;
      assert.deepEqual([attempt?.outcome, attempt?.isCounted], ['aborted', false]);
      assert.equal((await stateOf(service, webhook)).failureCount, 0);
      const [delivery] = await deliveriesOf(service, webhook);
      assert.equal(delivery?.status, 'pending');
      const waiting = await dueDeliveries(service, { webhookId: webhook.id });
      assertEach(waiting, (due) => [due.lane, due.attempt, due.dueAt, due.lease], [
        [lane, 1, delivery?.createdAt, null],
      ]);
      await dropDueDeliveries(service, { webhookId: webhook.id });
    });
  }

  it('a result whose connection broke after the commit is recorded once, and is not logged as lost', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    await emit(service.runtime, teamId, ['Hello']);
    let isBroken = false;
    const { dispatcher, outbound, errors } = pausedAfter(service.runtime, async (statement) => {
      if (isBroken || statement !== 'webhooks.write-results') return;
      isBroken = true;
      throw new Error('Connection terminated unexpectedly');
    });
    dispatcher.start();
    dispatcher.notify();
    await settled(service, webhook);
    let isStopped = false;
    const stopped = dispatcher.stop().then(() => {
      isStopped = true;
    });
    await until('it is written again', () => {
      service.clock.advance(500);
      return isStopped;
    });
    await stopped;
    await outbound.close();
    assert.ok(isBroken);
    assert.deepEqual(errors, []);
    assertEach(await deliveriesOf(service, webhook), (one) => [one.status, one.attemptCount], [
      ['succeeded', 1],
    ]);
    assert.equal((await attemptsOf(service, webhook)).length, 1);
  });

  it('a delivery that another process has leased in the meantime is neither released nor skipped', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    await emit(service.runtime, teamId, ['Hello']);
    const { pool } = service.runtime.database;
    const claim = async () => {
      const { clock } = service;
      const limits = { now: clock.now(), leasedUntil: clock.in(20_000), free: 10 };
      const { deliveries } = await claimFromAll(pool, { ...limits, inFlight: new Map() });
      const [claimed] = deliveries.filter(({ webhook_id: id }) => id === webhook.id);
      if (!claimed) throw new Error('the delivery was not claimed');
      return { webhookId: webhook.id, deliveryId: claimed.delivery_id, lease: claimed.lease };
    };
    const first = await claim();
    service.clock.advance(60_000);
    const second = await claim();
    assert.notEqual(second.lease, first.lease);
    await releaseDelivery(pool, first);
    await skipDelivery(pool, { ...first, at: service.clock.now() });
    const leases = async () =>
      (await dueDeliveries(service, { webhookId: webhook.id })).map(({ lease }) => lease);
    assert.deepEqual(await leases(), [second.lease]);
    await releaseDelivery(pool, second);
    assert.deepEqual(await leases(), [null]);
    assert.equal((await deliveriesOf(service, webhook))[0]?.status, 'pending');
  });
});

describe('results of attempts that end late (specification section 6.3, decision 0017)', () => {
  let open: ServerResponse[];
  const receiver = given(() => startWebhookReceiver({ behaviour: (answer) => void open.push(answer) }));
  const service = givenWebhookService();

  /** Makes a webhook with one delivery, which the receiver has got and not yet answered. */
  async function whileOneRuns() {
    open = [];
    const team = await service.newTeam();
    const webhook = await addWebhook(service.runtime, team.id, receiver.url);
    await emit(service.runtime, team.id, ['Hello']);
    await until('it runs', () => open.length === 1);
    const change = async (body: Record<string, unknown>) => {
      const answer = await team.api.put(`/v1/webhooks/${publicId('wh', webhook.id)}`, body);
      assert.equal(answer.status, 200, answer.text);
    };
    const answer = async (place: number, status: number) => {
      const before = (await attemptsOf(service, webhook)).length;
      open[place]?.writeHead(status).end();
      return until('it is in the log', async () => (await attemptsOf(service, webhook))[before]);
    };
    const delivery = async () => (await deliveriesOf(service, webhook))[0];
    return { webhook, change, answer, delivery };
  }

  for (const status of [200, 500]) {
    it(`a ${status} of an attempt whose lease another attempt holds is logged, and changes nothing (§6.3/interrupted-attempts)`, async () => {
      const { webhook, answer, delivery } = await whileOneRuns();
      service.clock.advance(60_000);
      await until('it is made again', () => open.length === 2);
      const late = await answer(0, status);
      assert.equal(late.isCounted, false);
      assert.equal((await stateOf(service, webhook)).failureCount, 0);
      assert.equal((await delivery())?.status, 'pending');
      const waiting = await dueDeliveries(service, { webhookId: webhook.id });
      assertEach(waiting, ({ attempt, lease }) => [attempt, lease !== null], [[1, true]]);
      await answer(1, 200);
      await settled(service, webhook);
      assert.deepEqual([(await delivery())?.status, open.length], ['succeeded', 2]);
    });
  }

  it('a failure at the previous url of a webhook does not count, and its delivery is tried again (§6.3/failure-count)', async () => {
    const { webhook, change, answer, delivery } = await whileOneRuns();
    await change({ url: `${receiver.url}/elsewhere` });
    assert.equal((await answer(0, 500)).isCounted, false);
    assert.equal((await stateOf(service, webhook)).failureCount, 0);
    service.clock.advance(10_000);
    await until('it is tried again', () => open.length === 2);
    await answer(1, 200);
    assert.equal((await delivery())?.status, 'succeeded');
  });

  it('a success of an attempt whose lease has ended counts, even if the webhook is disabled before the next attempt ends', async () => {
    const { change, answer, delivery, webhook } = await whileOneRuns();
    service.clock.advance(60_000);
    await until('it is made again', () => open.length === 2);
    await answer(0, 200);
    assert.equal((await delivery())?.status, 'pending');
    await change({ active: false });
    assert.equal((await delivery())?.status, 'succeeded');
    await answer(1, 500);
    assert.deepEqual(
      [(await delivery())?.status, (await stateOf(service, webhook)).failureCount],
      ['succeeded', 0],
    );
  });

  it('a success that arrives after its webhook was disabled counts, and a failure does not (§6.3/failure-count)', async () => {
    for (const [status, becomes] of [
      [200, 'succeeded'],
      [500, 'skipped'],
    ] as const) {
      const { webhook, change, answer, delivery } = await whileOneRuns();
      await change({ active: false });
      await change({ active: true });
      await answer(0, status);
      assert.equal((await delivery())?.status, becomes);
      assert.equal((await stateOf(service, webhook)).failureCount, 0);
    }
  });
});
