import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { type DnsAnswer, startDnsServer } from '#test/support/webhooks/dns-server.ts';
import { attemptsOf, deliveriesOf, settled } from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';
import { addWebhook, emit, startWebhooking } from '#test/support/webhooks/webhook-world.ts';

describe('a failing network of our own (specification sections 6.3 and 6.5)', () => {
  let answer: DnsAnswer = 'server failure';
  const dns = given(() => startDnsServer(() => answer));
  const service = given(() => startWebhooking({}, { nameServers: [dns.address] }));

  it('a delivery has four attempts while the server’s own network fails, and these failures never disable its webhook', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, 'https://receiver.example.com/');
    await emit(
      service.runtime,
      teamId,
      Array.from({ length: 12 }, (_, n) => `event ${n}`),
    );
    for (const attempts of [12, 24, 36, 48]) {
      await until(
        `${attempts} attempts`,
        async () => (await attemptsOf(service, webhook)).length === attempts,
      );
      service.clock.advance(300_000);
    }
    await settled(service, webhook);
    const attempts = await attemptsOf(service, webhook);
    assert.deepEqual([...new Set(attempts.map(({ outcome }) => outcome))], ['no_network']);
    assert.ok(attempts.every(({ isCounted }) => !isCounted));
    const { isActive, failureCount } = await stateOf(service, webhook);
    assert.deepEqual([isActive, failureCount], [true, 0]);
    assert.ok((await deliveriesOf(service, webhook)).every(({ status }) => status === 'failed'));

    answer = 'no such name';
    await emit(service.runtime, teamId, ['the name servers are back']);
    await until('a failure counts again', async () => (await stateOf(service, webhook)).failureCount === 1);
  });
});
