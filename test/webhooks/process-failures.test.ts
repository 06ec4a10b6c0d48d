import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { before, describe, it } from 'node:test';
import { pino } from 'pino';
import { parseAddressRange } from '#server/platform/network/ip-address.ts';
import { createProcessFailureLog } from '#server/webhooks/dispatch/delivery-metrics.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { pausedAfter } from '#test/support/webhooks/paused-dispatcher.ts';
import { attemptsOf } from '#test/support/webhooks/stored-deliveries.ts';
import { answering, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

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

  it('a process that can’t reach receivers logs one line for many attempts, with its host, process id and EGRESS_ALLOW_CIDRS', async () => {
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

  it('no_network and forbidden_address cause one log line each, and other outcomes cause none', () => {
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
