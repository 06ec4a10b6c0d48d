import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PhoneLine, SimulatedPhone } from '#simulated-phone/simulated-phone.ts';
import { messagesInFlight } from '#test/support/messages/stored-messages.ts';
import { type ConnectedNumber, claim, connectNumber } from '#test/support/phones/test-phone.ts';
import { startFlakyProxy } from '#test/support/proxies/flaky-proxy.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

describe('a simulated phone (specification section 11.2)', () => {
  const { service, team } = givenTeam();
  let next = 0;

  /** Makes a number with a phone and five messages that wait for it. */
  const waitingLine = async (): Promise<{ number: ConnectedNumber; token: string; ids: string[] }> => {
    next += 1;
    const number = await connectNumber(service, team, `+1415555010${next}`);
    const { json } = await team.api.post(`/v1/numbers/${number.numberId}/reconnect`);
    const { token } = await claim(team.api, String(json.setup_url));
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      ids.push(await team.api.send({ from: number.phoneNumber, to: '+12125550100', content: `${n}` }));
    }
    return { number, token, ids };
  };
  const statuses = (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await team.api.get(`/v1/messages/${id}`)).json.status));

  for (const reportsDelivery of [false, true]) {
    const word = reportsDelivery ? 'delivered' : 'sent';
    it(`a simulated phone that stops reports its last message as ${word}, takes no other, and leaves none in flight`, async () => {
      const { token, ids } = await waitingLine();
      const lines: PhoneLine[] = [];
      const phone = new SimulatedPhone({
        server: service.baseUrl,
        deviceToken: token,
        count: 2,
        reportsDelivery,
        onLine: (line) => lines.push(line),
      });
      await phone.run();
      assert.equal(phone.end, 'count');
      assertEach(phone.sent, (message) => message.id, ids.slice(0, 2));
      assert.deepEqual(await statuses(ids), [word, word, 'queued', 'queued', 'queued']);
      assert.deepEqual(await messagesInFlight(service), []);
      assert.ok(lines.every((line) => line.did === 'sent' || line.did === 'reported'));
      assert.equal(lines.filter((line) => line.did === 'sent').length, 2);
    });
  }

  const proxy = givenEach(() => startFlakyProxy(service.baseUrl));

  it('a phone behind a proxy that repeats polls, loses answers and shows error pages sends no message twice (§3.2/device-timeout)', async () => {
    const { token, ids } = await waitingLine();
    const phone: SimulatedPhone = new SimulatedPhone({
      server: proxy.url,
      deviceToken: token,
      waitSeconds: 0.05,
      onLine: (line) => {
        // The first poll is not lost, because its repeat would be a takeover (unused-session.test.ts).
        if (line.did === 'sent' && phone.sent.length === 1)
          for (const mishap of ['repeat_poll', 'lose_hand_out', 'error_page'] as const) proxy.next(mishap);
      },
    });
    const running = phone.run();
    await until('all are settled', async () => {
      service.clock.advance(5_000);
      return (await statuses(ids)).every((status) => status === 'sent' || status === 'failed');
    });
    phone.switchOff();
    await running;
    const settled = await statuses(ids);
    assert.ok(settled.includes('failed'), 'the message whose answer was lost');
    for (const [n, id] of ids.entries())
      assert.equal(phone.sent.filter((sent) => sent.id === id).length, settled[n] === 'sent' ? 1 : 0);
  });
});
