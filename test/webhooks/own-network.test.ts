import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { before, describe, it } from 'node:test';
import { pino } from 'pino';
import { parseAddressRange } from '#server/platform/network/ip-address.ts';
import { createProcessFailureLog } from '#server/webhooks/dispatch/delivery-metrics.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { type DnsAnswer, startDnsServer } from '#test/support/webhooks/dns-server.ts';
import { pausedAfter } from '#test/support/webhooks/paused-dispatcher.ts';
import { attemptsOf, deliveriesOf, settled } from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';
import { answering, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import {
  addWebhook,
  emit,
  givenWebhookService,
  startWebhooking,
} from '#test/support/webhooks/webhook-world.ts';

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

describe('log lines of failures that may be due to one process (specification section 10.4)', () => {
  const receiver = given(startWebhookReceiver);
  const service = givenWebhookService({ ROLES: 'api' });

  before(async () => {
    receiver.behave(answering(200));
  });

  const ranges = ['10.1.0.0/16', 'fd00::/8'];
  const config = () => ({
    ...service.runtime.config,
    egressAllowed: ranges.flatMap((range) => parseAddressRange(range) ?? []),
  });
  const named = { hostname: hostname(), pid: process.pid, EGRESS_ALLOW_CIDRS: '10.1.0.0/16,fd00::/8' };

  it('a process that may not reach a receiver logs one line for many attempts, with its host, process id and EGRESS_ALLOW_CIDRS', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    const events = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    await emit(service.runtime, teamId, events);
    const other = pausedAfter({ ...service.runtime, config: config() }, async () => undefined);
    other.dispatcher.start();
    await until('all are attempted', async () => {
      return (await attemptsOf(service, webhook)).length === events.length;
    });
    await other.dispatcher.stop();
    await other.outbound.close();
    assert.equal(receiver.received.length, 0);
    const [line, ...rest] = other.warnings as Record<string, unknown>[];
    assert.deepEqual(rest, []);
    const { delivery, ...fields } = line ?? {};
    assert.match(String(delivery), /^dlv_/);
    assert.deepEqual(fields, { failure: 'forbidden_address', ...named });
  });

  it('no_network and forbidden_address have one log line each, and other outcomes none', () => {
    const lines: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
    const log = createProcessFailureLog({ ...service.runtime, config: config(), logger });
    const deliveryId = service.runtime.ids.next('dlv');
    for (const outcome of ['succeeded', 'timeout', 'dns', 'no_network', 'forbidden_address'] as const)
      for (let attempts = 0; attempts < 100; attempts += 1) log(outcome, deliveryId);
    assertEach(lines, ({ level, failure, pid }) => [level, failure, pid], [
      [40, 'no_network', process.pid],
      [40, 'forbidden_address', process.pid],
    ]);
  });
});
