import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveOverdue } from '#server/messages/sweep-messages.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { roundTrip } from '#test/support/http/round-trip.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, ApiClient, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { acceptedByMonth } from '#test/support/usage/stored-usage.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const to = '+14155550101';

describe('POST /v1/messages/:id/cancel (specification sections 3.2 and 4.3)', () => {
  const service = givenService();
  given(() => plantCanary(service));
  let phones = 0;

  async function newSender(monthlyLimit = 1_000): Promise<TestTeam & { readonly number: ConnectedNumber }> {
    const team = await service.newTeam({ monthlyLimit });
    phones += 1;
    const number = await connectNumber(service, team, `+1415555${String(2000 + phones)}`);
    return { ...team, number };
  }

  type Sender = Awaited<ReturnType<typeof newSender>>;

  const send = (team: Sender, content = 'Hello') =>
    team.api.send({ from: team.number.phoneNumber, to, content });
  const cancel = (team: Pick<TestTeam, 'api'>, id: string): Promise<ApiAnswer> =>
    team.api.post(`/v1/messages/${id}/cancel`);
  const get = async (team: TestTeam, id: string) => (await team.api.get(`/v1/messages/${id}`)).json;

  const events = (id: string) => storedEvents(service, { messageId: uuidOf('msg', id) });
  const usage = (team: TestTeam) => acceptedByMonth(service, team.id);

  function assertConflict(answer: ApiAnswer, status: string): void {
    assert.partialDeepStrictEqual(answer, { status: 409, json: { error: { code: 'conflict' } } });
    assert.match(String(field(answer.json, 'error.message')), new RegExp(`this one is ${status}\\.`));
  }

  it('cancelling a queued message fails it with cancelled, and the answer has every field of section 2.6 (§3.1/failed, §3.2/cancelled, §4.3/cancel-queued-only)', async () => {
    const team = await newSender();
    const id = await send(team);
    const queued = await get(team, id);
    const answer = await cancel(team, id);
    assert.equal(answer.status, 200, answer.text);
    assert.match(String(answer.json.failed_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(answer.json, {
      ...queued,
      status: 'failed',
      failed_at: answer.json.failed_at,
      error_code: 'cancelled',
      error_message: 'The message was cancelled before a phone picked it up.',
    });
    assert.deepEqual(await get(team, id), answer.json);
  });

  it('a cancelled message is never handed out, and messages that were sent after it are (§4.3/cancel-queued-only)', async () => {
    const team = await newSender();
    const first = await send(team, 'first');
    const second = await send(team, 'second');
    assert.equal((await get(team, second)).waiting_reason, 'earlier_message');
    assert.equal((await cancel(team, first)).status, 200);
    assert.equal((await get(team, second)).waiting_reason, null);
    assert.equal((await team.number.wire.poll()).id, second);
    assert.equal((await team.number.wire.poll({ last: second })).action, 'idle');
    assert.equal((await get(team, first)).status, 'failed');
  });

  it('a message that is cancelled repeatedly makes one event message.failed', async () => {
    const team = await newSender();
    const id = await send(team);
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(team, id)));
    const statuses = answers.map((answer) => answer.status).sort();
    assert.deepEqual(statuses, [200, ...Array(9).fill(409)]);
    const written = await events(id);
    assertEach(written, (event) => [event.type, event.sequence], [['message.failed', 1]]);
  });

  it('cancelling a message that is no longer queued gets 409 with the message’s status, and changes nothing (§4.3/cancel-queued-only)', async () => {
    const team = await newSender();
    const { wire } = team.number;
    const standing = new Map<string, string>();
    const sent = await send(team);
    assert.equal((await wire.poll()).id, sent);
    standing.set('sent', sent);
    const delivered = await send(team);
    assert.equal((await wire.poll({ last: sent })).id, delivered);
    standing.set('delivered', delivered);
    const failed = await send(team);
    assert.equal((await wire.poll({ last: delivered })).id, failed);
    await wire.call('status', { id: delivered, status: 'delivered' });
    standing.set('failed', failed);
    const polling = await send(team);
    assert.equal((await wire.poll({ last: failed, last_status: 'failed' })).id, polling);
    standing.set('polling', polling);
    const received = await wire.call('inbound', { from: to, text: 'Hi' });
    standing.set('received', received.id ?? '');
    const used = await usage(team);
    for (const [status, id] of standing) {
      const before = await get(team, id);
      assert.equal(before.status, status);
      const written = await events(id);
      assertConflict(await cancel(team, id), status);
      assert.deepEqual(await get(team, id), before);
      assert.deepEqual(await events(id), written);
    }
    assert.deepEqual(await usage(team), used);
    assert.equal((await wire.poll({ last: polling })).action, 'idle');
    assert.equal((await get(team, polling)).status, 'sent');
  });

  it('a cancelled message is refunded at once, so that another send is accepted (§3.2/refund)', async () => {
    const team = await newSender(2);
    const id = await send(team);
    await send(team);
    const full = { from: team.number.phoneNumber, to, content: 'one too many' };
    assert.equal((await team.api.post('/v1/messages/send', full)).status, 402);
    assert.equal((await cancel(team, id)).status, 200);
    assert.deepEqual(Object.values(await usage(team)), [1]);
    assert.equal((await team.api.post('/v1/messages/send', full)).status, 202);
    assert.equal((await team.api.post('/v1/messages/send', full)).status, 402);
  });

  it('a message whose cancel races a held poll is handed out or cancelled, never both (§4.3/cancel-queued-only)', async (t) => {
    const second = await service.startAnother();
    t.after(() => second.close());
    const team = await newSender();
    const { wire } = team.number;
    const elsewhere = { api: new ApiClient(second.baseUrl, team.api.key) };
    const outcomes = { handedOut: 0, cancelled: 0 };
    const ask = (last: string) => {
      const poll = { isAnswered: false, answer: wire.poll({ last }) };
      poll.answer = poll.answer.finally(() => {
        poll.isAnswered = true;
      });
      return poll;
    };
    let poll = ask('none');
    // After each round that the cancel wins, it waits longer, so that it meets the hand-out at each of its steps.
    let delay = 0;
    for (let round = 0; round < 30; round += 1) {
      const id = await send(team, `round ${round}`);
      for (let step = 0; step < delay; step += 1) await roundTrip(service);
      const answer = await cancel(round % 2 === 0 ? team : elsewhere, id);
      const message = await get(team, id);
      if (answer.status === 200) {
        assert.deepEqual([message.status, message.error_code], ['failed', 'cancelled']);
        assert.equal((await events(id)).length, 1);
        outcomes.cancelled += 1;
        delay += outcomes.handedOut === 0 ? delay + 1 : 1;
        if (poll.isAnswered) {
          assert.equal((await poll.answer).action, 'idle');
          poll = ask('none');
        }
      } else {
        assertConflict(answer, 'polling');
        assert.equal(message.status, 'polling');
        assert.deepEqual(await events(id), []);
        assert.equal((await poll.answer).id, id);
        outcomes.handedOut += 1;
        delay = Math.max(0, delay - 1);
        poll = ask(id);
      }
    }
    assert.ok(outcomes.handedOut >= 3 && outcomes.cancelled >= 3, JSON.stringify(outcomes));
    assert.equal((await poll.answer).action, 'idle');
    assert.deepEqual(Object.values(await usage(team)), [outcomes.handedOut]);
  });

  it('a message whose cancel races a late report of its first hand-out is sent or cancelled, never both', async () => {
    const team = await newSender();
    const { wire } = team.number;
    await team.api.put(`/v1/numbers/${team.number.numberId}`, { on_unconfirmed: 'retry_once' });
    for (let round = 0; round < 10; round += 1) {
      const id = await send(team, `round ${round}`);
      const poll = await wire.poll();
      assert.equal(poll.id, id, JSON.stringify(poll));
      service.clock.advance(601_000);
      await resolveOverdue(service.runtime);
      const [answer, report] = await Promise.all([
        cancel(team, id),
        wire.call('status', { id, status: 'delivered' }),
      ]);
      assert.deepEqual(Object.keys(report), ['ok', 'id'], JSON.stringify(report));
      const message = await get(team, id);
      if (answer.status === 200) assert.equal(message.error_code, 'cancelled');
      else assertConflict(answer, '(sent|delivered)');
      assert.equal(message.status, answer.status === 200 ? 'failed' : 'delivered');
    }
  });
});
