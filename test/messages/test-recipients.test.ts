import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testLine } from '#contract/test-line.ts';
import { type ApiClient, field } from '#test/support/service/api-client.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { newTestClient } from '#test/support/service/test-client.ts';
import { until } from '#test/support/service/until.ts';

interface Seen {
  readonly status: unknown;
  readonly error_code: unknown;
}

interface Outcome extends Seen {
  readonly to: string;
  readonly events: readonly string[];
}

const delivered = ['message.sent', 'message.delivered'];
const failed = (error_code: string, to: string): Outcome => ({
  to,
  status: 'failed',
  error_code,
  events: ['message.failed'],
});

const outcomes: readonly Outcome[] = [
  { to: '+15005550101', status: 'delivered', error_code: null, events: delivered },
  { to: '+15005550102', status: 'sent', error_code: null, events: ['message.sent'] },
  { to: '+15005550110', status: 'delivered', error_code: null, events: delivered },
  { to: '+12125550110', status: 'delivered', error_code: null, events: delivered },
  { to: '+15005550199', status: 'delivered', error_code: null, events: delivered },
  failed('cancelled', '+15005550121'),
  failed('number_removed', '+15005550122'),
  failed('opted_out', '+15005550123'),
  failed('media_unavailable', '+15005550124'),
  failed('media_too_large', '+15005550125'),
  failed('device_error', '+15005550127'),
  { ...failed('not_delivered', '+15005550128'), events: ['message.sent', 'message.failed'] },
];

describe('recipients of test messages', () => {
  const service = givenService();

  async function read(api: ApiClient, id: string, clock?: string): Promise<Seen & Record<string, unknown>> {
    const headers = clock === undefined ? {} : { 'x-test-clock': clock };
    const answer = await api.request('GET', `/v1/messages/${id}`, { headers });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as Seen & Record<string, unknown>;
  }

  async function eventsOf(api: ApiClient, id: string): Promise<string[]> {
    const { events } = (await api.get('/v1/events?limit=100')).json as {
      events: { type: string; data: { id?: string } }[];
    };
    return events.filter(({ data }) => data.id === id).map(({ type }) => type);
  }

  const hoursAhead = (hours: number) => new Date(service.clock.nowMs() + hours * 3_600_000).toISOString();

  it('each test recipient has the outcome and events that docs/test-keys.md lists', async () => {
    const { api } = await newTestClient(service);
    const ids = await Promise.all(
      outcomes.map(({ to }) => api.send({ from: testLine, to, content: `Hello ${to}` })),
    );
    for (const [index, { to, events, ...expected }] of outcomes.entries()) {
      const id = ids[index] ?? '';
      await until(
        `${to} ends`,
        async () => {
          const { status, error_code } = await read(api, id);
          return status === expected.status && error_code === expected.error_code;
        },
        40_000,
      );
      await until(`the events of ${to}`, async () => {
        return (await eventsOf(api, id)).join() === events.join();
      });
    }
  });

  it('a test recipient that replies Yes replies to each message', async () => {
    const { api } = await newTestClient(service);
    const to = '+15005550110';
    for (const content of ['One?', 'Two?']) await api.send({ from: testLine, to, content });
    const replies = await until('both replies arrived', async () => {
      service.clock.advance(1_000);
      const { messages } = (await api.get('/v1/messages?direction=inbound')).json as { messages: unknown[] };
      return messages.length === 2 ? messages : undefined;
    });
    for (const reply of replies)
      assert.deepEqual([field(reply, 'from'), field(reply, 'content')], [to, 'Yes']);
  });

  it('a test recipient that replies STOP is opted out of the test team, and not of the live team', async () => {
    const { api, team } = await newTestClient(service);
    const to = '+15005550111';
    await api.send({ from: testLine, to, content: 'Hello' });
    await until('the recipient is opted out', async () => {
      service.clock.advance(1_000);
      return (await api.get('/v1/opt-outs')).text.includes(to);
    });
    const refused = await api.post('/v1/messages/send', { from: testLine, to, content: 'Again' });
    assert.deepEqual([refused.status, field(refused.json, 'error.param')], [400, 'to']);
    assert.deepEqual((await team.api.get('/v1/opt-outs')).json.opt_outs, []);
    assert.equal((await api.request('DELETE', `/v1/opt-outs/${encodeURIComponent(to)}`)).status, 200);
    await api.send({ from: testLine, to, content: 'Again' });
  });

  it('a message to the test recipient that no phone fetches expires, early with x-test-clock, and no other message does', async () => {
    const { api } = await newTestClient(service);
    const send = () => api.send({ from: testLine, to: '+15005550120', content: 'Hello' });
    const [one, other] = [await send(), await send()];
    assert.equal((await read(api, one, '0001-01-01T00:00:00Z')).status, 'queued');
    const { status, waiting_reason } = await read(api, one, hoursAhead(23));
    assert.deepEqual([status, waiting_reason], ['queued', 'phone_offline']);
    const expired = await read(api, one, hoursAhead(25));
    assert.deepEqual([expired.status, expired.error_code], ['failed', 'expired']);
    await until(
      'its event is in the feed',
      async () => (await eventsOf(api, one)).join() === 'message.failed',
    );
    assert.equal((await read(api, other)).status, 'queued');
    assert.equal((await api.post(`/v1/messages/${other}/cancel`)).status, 200);
  });

  it('x-test-clock ends the lease of a hand-out to a test recipient', async () => {
    const { api } = await newTestClient(service);
    const id = await api.send({ from: testLine, to: '+15005550126', content: 'Hello' });
    await until('the phone took it', async () => (await read(api, id)).status === 'polling');
    const { status, error_code, may_have_been_sent } = await read(api, id, hoursAhead(1));
    assert.deepEqual([status, error_code, may_have_been_sent], ['failed', 'device_timeout', true]);
  });

  it('x-test-clock is refused with a live key, and if it is not a timestamp', async () => {
    const { api, team } = await newTestClient(service);
    const id = await api.send({ from: testLine, to: '+15005550120', content: 'Hello' });
    for (const clock of ['', 'tomorrow', '2026-13-01T00:00:00Z', '2027-01-01', '2027-01-01T00:00:00']) {
      const refused = await api.request('GET', `/v1/messages/${id}`, { headers: { 'x-test-clock': clock } });
      assert.deepEqual([refused.status, field(refused.json, 'error.param')], [400, 'x-test-clock'], clock);
    }
    const live = await team.api.request('GET', `/v1/messages/${id}`, {
      headers: { 'x-test-clock': '2027-01-01T00:00:00Z' },
    });
    assert.deepEqual([live.status, field(live.json, 'error.param')], [400, 'x-test-clock']);
  });
});
