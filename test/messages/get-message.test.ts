import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { passServedTime } from '#test/support/numbers/pass-served-time.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

const to = '+14155550101';
const minuteMs = 60_000;

describe('GET /v1/messages/:id (specification section 4.3)', () => {
  const service = givenService();
  const canary = given(() => plantCanary(service));
  const team = given(() => service.newTeam());
  const number = given(() => connectNumber(service, team, '+14155550100'));

  const get = async (id: unknown) => {
    const answer = await team.api.get(`/v1/messages/${id}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };

  it('a queued message has every field, and null for each one without a value (§2.1/empty-values)', async () => {
    const sent = { from: number.phoneNumber, to, content: 'Hello' };
    const accepted = await team.api.post('/v1/messages/send', sent);
    assert.deepEqual(await get(accepted.json.id), {
      id: accepted.json.id,
      ...sent,
      media_url: null,
      status: 'queued',
      direction: 'outbound',
      created_at: accepted.json.created_at,
      sent_at: null,
      delivered_at: null,
      failed_at: null,
      error_code: null,
      error_message: null,
      waiting_reason: null,
      expected_at: null,
      may_have_been_sent: false,
    });
  });

  it('the answer follows a message through polling and sent (§3.1/reported-sent)', async () => {
    const poll = await number.wire.poll();
    const polling = await get(poll.id);
    assert.deepEqual([polling.status, polling.sent_at, polling.waiting_reason], ['polling', null, null]);
    await number.wire.poll({ last: poll.id ?? '' });
    const sent = await get(poll.id);
    assert.equal(sent.status, 'sent');
    assert.match(String(sent.sent_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(String(sent.sent_at) >= String(sent.created_at));
  });

  it('the answer has the time of delivery if the device reports deliveries (§3.1/delivered)', async () => {
    const id = await team.api.send({ from: number.phoneNumber, to, content: 'Delivered' });
    assert.equal((await number.wire.poll()).id, id);
    await number.wire.poll({ last: id });
    const sent = await get(id);
    assert.deepEqual([sent.status, sent.delivered_at], ['sent', null]);
    await number.wire.call('status', { id, status: 'delivered' });
    const delivered = await get(id);
    assert.deepEqual([delivered.status, delivered.sent_at], ['delivered', sent.sent_at]);
    assert.ok(String(delivered.delivered_at) >= String(delivered.sent_at));
    assert.match(String(delivered.delivered_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('a failed message has its error code and the error text of the phone', async () => {
    const id = await team.api.send({ from: number.phoneNumber, to, content: 'Not this one' });
    const poll = await number.wire.poll();
    assert.equal(poll.id, id);
    await number.wire.poll({ last: id, last_status: 'failed', last_error: 'No iMessage here' });
    const failed = await get(id);
    assert.deepEqual([failed.status, failed.error_code, failed.sent_at], ['failed', 'device_error', null]);
    assert.match(String(failed.error_message), /No iMessage here/);
    assert.match(String(failed.failed_at), /Z$/);
  });

  it('a queued message has the reason why it waits: earlier message, busy phone, paused number, offline phone (§2.5/last-seen-at, §4.3/waiting-reason)', async () => {
    const first = await team.api.send({ from: number.phoneNumber, to, content: 'first' });
    const second = await team.api.send({ from: number.phoneNumber, to, content: 'second' });
    assert.equal((await get(first)).waiting_reason, null);
    assert.equal((await get(second)).waiting_reason, 'earlier_message');
    const poll = await number.wire.poll();
    assert.equal(poll.id, first);
    assert.equal((await get(second)).waiting_reason, 'phone_busy');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    assert.equal((await get(second)).waiting_reason, 'number_paused');
    await number.wire.poll({ last: first });
    assert.equal((await get(second)).waiting_reason, 'number_paused');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    assert.equal((await get(second)).waiting_reason, null);
    await passServedTime(service, 5 * minuteMs + 1_000);
    assert.equal((await get(second)).waiting_reason, 'phone_offline');
  });

  it('an inbound message has the status received', async () => {
    const inbound = await number.wire.call('inbound', { from: '+1 (415) 555-0102', text: 'Hi there' });
    const message = await get(inbound.id);
    assert.deepEqual(
      [message.status, message.direction, message.from, message.to, message.content],
      ['received', 'inbound', '+14155550102', number.phoneNumber, 'Hi there'],
    );
    assert.deepEqual(
      [message.error_code, message.waiting_reason, message.may_have_been_sent],
      [null, null, false],
    );
  });

  it('another team’s message and an unknown id get the same 404, byte for byte', async () => {
    const never = await team.api.get('/v1/messages/msg_01h2xcejqtf2nbrexx3vqjhp41');
    assert.equal(never.status, 404);
    assert.equal(field(never.json, 'error.code'), 'not_found');
    for (const id of [canary.queuedId, canary.inboundId]) {
      assert.equal((await canary.team.api.get(`/v1/messages/${id}`)).status, 200);
      const foreign = await team.api.get(`/v1/messages/${id}`);
      assert.equal(foreign.status, 404);
      assert.equal(foreign.text, never.text);
      const names = (answer: typeof never) => [...answer.headers.keys()].sort();
      assert.deepEqual(names(foreign), names(never));
      for (const name of names(never).filter((header) => !['request-id', 'date'].includes(header))) {
        assert.equal(foreign.headers.get(name), never.headers.get(name), name);
      }
    }
  });
});
