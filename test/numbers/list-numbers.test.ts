import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSendBatcher, sendMessage } from '#server/messages/send-message.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { untilBlocked } from '#test/support/database/blocked-statements.ts';
import { holdInserts } from '#test/support/database/table-faults.ts';
import { connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { sentByDay } from '#test/support/usage/stored-usage.ts';

const to = '+14155550101';
const phone = '+14155550100';

describe('GET /v1/numbers (specification section 4.2)', () => {
  const { service, team } = givenTeamBesideCanary();
  const number = given(() => connectNumber(service, team, phone));

  const toMidnight = () => new Date(service.clock.nowMs()).setUTCHours(24, 0, 0, 0) - service.clock.nowMs();

  it('messages_today counts messages accepted and received since midnight UTC, and never falls (§2.5/messages-today)', async () => {
    const today = async () => (await findNumber(team.api, phone))?.messages_today;
    // The clock moves to noon of the next day, which has no messages.
    service.clock.advance(toMidnight() + 12 * 3_600_000);
    assert.equal(await today(), 0);
    const first = await team.api.send({ from: phone, to, content: 'one' });
    await team.api.send({ from: phone, to, content: 'two' });
    assert.equal(await today(), 2);
    await number.wire.call('inbound', { from: to, text: 'three' });
    assert.equal(await today(), 3);
    // A message must stay counted when it is handed out and when it fails.
    const poll = await number.wire.poll({ session: 'new' });
    assert.equal(poll.id, first);
    assert.equal(await today(), 3);
    await number.wire.poll({ last: first, last_status: 'failed' });
    assert.equal(await today(), 3);
    // Refused sends and messages of other numbers do not count.
    await team.api.post('/v1/messages/send', { from: phone, to: phone, content: 'x' });
    const second = await connectNumber(service, team, '+14155550102');
    await team.api.send({ from: second.phoneNumber, to: phone, content: 'from one of ours to another' });
    assert.equal(await today(), 3);
    service.clock.advance(toMidnight() - 1_000);
    assert.equal(await today(), 3);
    service.clock.advance(1_000);
    assert.equal(await today(), 0);
    await team.api.send({ from: phone, to, content: 'the first of the new day' });
    assert.equal(await today(), 1);
  });

  it('a send that waited over midnight counts on the day of its created_at, and the list is ordered by created_at too (§2.5/messages-today)', async () => {
    const sender = await service.newTeam();
    const { phoneNumber, wire } = await connectNumber(service, sender, '+14155550104');
    const sends = createSendBatcher({ ...service.runtime, metrics: createMetrics() });
    const send = (content: string) =>
      sendMessage(
        { ...service.runtime, sends },
        { teamId: sender.id, id: null },
        { from: phoneNumber, to, content },
        content,
      );
    service.clock.advance(toMidnight() + 12 * 3_600_000);
    await send('begins the month');
    service.clock.advance(toMidnight() - 1_000);
    const inserts = await holdInserts(service, 'send_queue');
    const first = send('in a statement before midnight');
    await untilBlocked(service, 'messages.accept-sends');
    // The second send waits for the first in the batcher, so its statement runs after midnight.
    const second = send('in a statement after midnight');
    await wire.call('inbound', { from: to, text: 'received between the two' });
    service.clock.advance(1_000);
    await inserts.end();
    const answers = [await first, await second].map(({ message }) => message);

    assert.equal((await findNumber(sender.api, phoneNumber))?.messages_today, 1);
    assert.deepEqual(await sentByDay(service, sender.id), [2, 1]);
    const list = (await sender.api.get('/v1/messages')).json.messages as Record<string, string>[];
    const times = list.map((message) => message.created_at);
    assert.equal(times.length, 4);
    assert.deepEqual(times, times.toSorted().reverse());
    // The list has the same created_at as the answer to the send, and a repeat gets that answer again.
    for (const answer of answers) {
      const { id, created_at: createdAt, content } = answer;
      assert.equal(list.find((message) => message.id === id)?.created_at, createdAt);
      assert.deepEqual(await send(content), { message: answer, replayed: true });
    }
  });
});
