import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { attemptsOf, settled } from '#test/support/webhooks/stored-deliveries.ts';
import { answering, silent, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit, eventIdOf, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

describe('fairness between teams in the webhook queue (decision 0017) (§6.3/slots)', () => {
  const hanging = given(() => startWebhookReceiver({ behaviour: silent }));
  const quick = given(startWebhookReceiver);
  const service = givenWebhookService();

  it('20 receivers that hang and 2,000 due deliveries of one team delay no first attempt of another', async () => {
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

  it('failures of one team that wait to be counted delay no success of another team', async () => {
    const failing = await startWebhookReceiver({ behaviour: answering(500) });
    const { id: failingTeam } = await service.newTeam();
    const { id: team } = await service.newTeam();
    const held = await addWebhook(service.runtime, failingTeam, failing.url);
    const webhook = await addWebhook(service.runtime, team, quick.url);
    const lock = await holdRowLock(service, { webhookId: held.id });
    try {
      await emit(service.runtime, failingTeam, ['fails']);
      await failing.count(1);
      await emit(service.runtime, team, ['succeeds']);
      await settled(service, webhook);
      assert.deepEqual(await attemptsOf(service, held), []);
    } finally {
      await lock.release();
    }
    const [first] = await until('the failure is counted', async () => {
      const attempts = await attemptsOf(service, held);
      return attempts.length > 0 && attempts;
    });
    assert.equal(first?.isCounted, true);
    assert.equal(
      failing.received.length,
      1,
      'the success came first, and the failure was not given up for it',
    );
    await failing.close();
  });

  it('a webhook that another transaction has locked delays no results of another team, and its own keep their order', async (t) => {
    const { id: lockedTeam } = await service.newTeam();
    const { id: team } = await service.newTeam();
    const receiver = await startWebhookReceiver();
    t.after(() => receiver.close());
    const held = await addWebhook(service.runtime, lockedTeam, receiver.url);
    const webhook = await addWebhook(service.runtime, team, quick.url);
    const lock = await holdRowLock(service, { webhookId: held.id });
    const startedMs = performance.now();
    try {
      await emit(
        service.runtime,
        lockedTeam,
        Array.from({ length: 20 }, (_, n) => `locked ${n}`),
      );
      await receiver.count(20);
      await emit(
        service.runtime,
        team,
        Array.from({ length: 20 }, (_, n) => `free ${n}`),
      );
      await settled(service, webhook);
      const tookMs = performance.now() - startedMs;
      assert.ok(tookMs < 4_000, `${tookMs} ms`);
      assert.deepEqual(await attemptsOf(service, held), []);
    } finally {
      await lock.release();
    }
    await settled(service, held);
    assert.equal((await attemptsOf(service, held)).length, 20);
    assert.equal(receiver.received.length, 20, 'none was made again');
  });
});
