import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claimFromAll } from '#test/support/webhooks/claim-from-all.ts';
import { dropLeasedDeliveries, moveToLanes } from '#test/support/webhooks/given-due-deliveries.ts';
import { addWebhook, emit, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

/** Slots per lane, as section 6.3 states them, not read from the server. */
const places = { live: 128, replay: 16, retry: 32, manual: 8 };

describe('slots of a webhook (specification section 6.3)', () => {
  const service = givenWebhookService({ ROLES: 'api' });

  it('a webhook has at most 128 first attempts, 32 retries, 16 replayed and 8 manual attempts at a time, over all processes (§6.3/slots)', async () => {
    const { runtime, clock } = service;
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(runtime, teamId, 'https://hooks.example.com/');
    const lanes = ['live', 'replay', 'retry', 'manual'] as const;
    await emit(runtime, teamId, Array(600).fill('Hello'));
    await moveToLanes(service, webhook.id, ...lanes);
    /** Claims as another process does. @returns the number of deliveries by lane */
    const claim = async () => {
      const limits = { now: clock.now(), leasedUntil: clock.in(20_000), free: 1_024 };
      const { deliveries } = await claimFromAll(runtime.database.pool, { ...limits, inFlight: new Map() });
      return Object.fromEntries(
        lanes.map((lane) => [lane, deliveries.filter((claimed) => claimed.lane === lane).length]),
      );
    };
    assert.deepEqual(await claim(), places);
    assert.deepEqual(await claim(), { live: 0, replay: 0, retry: 0, manual: 0 });
    await dropLeasedDeliveries(service, 'replay', 5);
    assert.deepEqual(await claim(), { live: 0, replay: 5, retry: 0, manual: 0 });
  });
});
