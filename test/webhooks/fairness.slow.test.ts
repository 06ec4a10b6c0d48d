import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { attemptsOf, settled } from '#test/support/webhooks/stored-deliveries.ts';
import { answering, silent, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit, eventIdOf, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

describe('fairness between teams in the webhook queue (decision 0017)', () => {
  const hanging = given(() => startWebhookReceiver({ behaviour: silent }));
  const quick = given(startWebhookReceiver);
  const service = givenWebhookService();

  it('20 receivers that hang and 2,000 due deliveries of one team do not delay the first attempt of another team', async () => {
    const { id: slowTeam } = await service.newTeam();
    for (let n = 0; n < 20; n += 1) await addWebhook(service.runtime, slowTeam, hanging.url);
    await emit(
      service.runtime,
      slowTeam,
      Array.from({ length: 100 }, (_, n) => `slow ${n}`),
    );
    await until('the team has all the places that it may have', () => hanging.hanging() === 256);
    const { id: team } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, team, quick.url);
    const delaysMs: number[] = [];
    for (let n = 1; n <= 20; n += 1) {
      const writtenMs = performance.now();
      await emit(service.runtime, team, [`quick ${n}`]);
      const received = await quick.count(n);
      delaysMs.push((received.at(-1)?.atMs ?? 0) - writtenMs);
    }
    assert.equal(new Set(quick.received.map(({ body }) => eventIdOf(body))).size, 20);
    assert.ok(Math.max(...delaysMs) < 2_000, `the first attempts came after ${delaysMs.map(Math.round)} ms`);
    assert.equal(hanging.hanging(), 256, 'and the team has no more places than before');
    assert.ok(webhook.id);
  });

  for (const [what, status, events] of [
    ['successes', 200, 20],
    ['a failure', 500, 1],
  ] as const)
    it(`${what} of a webhook that is locked wait for the lock, and do not delay results of another team`, async (t) => {
      const { id: lockedTeam } = await service.newTeam();
      const { id: team } = await service.newTeam();
      const receiver = await startWebhookReceiver({ behaviour: answering(status) });
      t.after(() => receiver.close());
      const held = await addWebhook(service.runtime, lockedTeam, receiver.url);
      const webhook = await addWebhook(service.runtime, team, quick.url);
      const lock = await holdRowLock(service, { webhookId: held.id });
      t.after(() => lock.release());
      const startedMs = performance.now();
      await emit(service.runtime, lockedTeam, Array(events).fill('locked'));
      await receiver.count(events);
      await emit(service.runtime, team, Array(20).fill('free'));
      await settled(service, webhook);
      const tookMs = performance.now() - startedMs;
      assert.ok(tookMs < 4_000, `${tookMs} ms`);
      assert.deepEqual(await attemptsOf(service, held), []);
      await lock.release();
      const attempts = await until('its results are in the log', async () => {
        const all = await attemptsOf(service, held);
        return all.length === events && all;
      });
      assert.ok(attempts.every(({ isCounted }) => isCounted));
      assert.equal(receiver.received.length, events, 'none was made again');
    });
});
