import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  findConversation,
  givenReader,
  listConversations,
  pathOf,
  readMessages,
  receive,
  sendNext,
} from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

const ada = '+14155550901';
const bob = '+14155550902';

describe('the messages of a conversation', () => {
  const { service, team, member, number } = givenReader();

  const send = (to: string, content: string, from = number.phoneNumber) =>
    team.api.send({ from, to, content });
  const texts = async (contact: string, { phoneNumber } = number, query = '') =>
    (await readMessages(member, phoneNumber, contact, query)).messages.map(({ content }) => content);

  it('a conversation has its messages of both directions and its waiting messages, newest first', async () => {
    const other = await connectNumber(service, team);
    await receive(number, ada, '1');
    await send(ada, '2');
    await sendNext(number);
    await receive(other, ada, 'to another number');
    await send(ada, 'from another number', other.phoneNumber);
    await receive(number, bob, 'from another contact');
    await send(bob, 'to another contact');
    await receive(number, ada, '3');
    await send(ada, '4');
    const { messages, cursor, has_more } = await readMessages(member, number.phoneNumber, ada);
    assertEach(messages, ({ content, direction, status }) => `${content} ${direction} ${status}`, [
      '4 outbound queued',
      '3 inbound received',
      '2 outbound delivered',
      '1 inbound received',
    ]);
    assert.deepEqual([cursor, has_more], [messages.at(-1)?.id, false]);
  });

  it('each message names the key or the member that sent it', async () => {
    const writer = await newMember(service, team, 'member');
    await receive(number, ada, '1');
    await send(ada, '2');
    const body = { from: number.phoneNumber, to: ada, content: '3' };
    assert.equal((await writer.post(writer.in('/messages/send'), body)).status, 202);
    const { messages } = await readMessages(member, number.phoneNumber, ada);
    assertEach(messages, ({ content, sender }) => `${content} ${sender?.kind} ${sender?.name}`, [
      `3 member ${writer.account.name}`,
      '2 key test',
      '1 undefined undefined',
    ]);
    assert.equal(messages[0]?.sender?.id, writer.memberId);
  });

  it('two numbers of one team that write to each other have a conversation each', async () => {
    const other = await connectNumber(service, team);
    await send(other.phoneNumber, 'there');
    await sendNext(number);
    await receive(other, number.phoneNumber, 'there');
    for (const [own, contact, directions] of [
      [number, other, ['outbound']],
      [other, number, ['inbound']],
    ] as const) {
      const { messages } = await readMessages(member, own.phoneNumber, contact.phoneNumber);
      assertEach(messages, ({ direction }) => direction, directions);
    }
  });

  it('pages show each message once, even while new messages arrive', async () => {
    const expected: string[] = [];
    for (let index = 0; index < 17; index += 1) {
      expected.unshift(String(index));
      if (index % 3 === 0) await send(ada, String(index));
      else await receive(number, ada, String(index));
    }
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await readMessages(member, number.phoneNumber, ada, `?limit=4&cursor=${cursor}`);
      seen.push(...page.messages.map(({ content }) => content));
      if (!page.has_more) break;
      assert.equal(page.messages.length, 4);
      cursor = page.cursor;
      await receive(number, ada, `in between, after ${seen.length}`);
      await send(ada, `in between, after ${seen.length}`);
    }
    assert.deepEqual(seen, expected);
  });

  it('the oldest queued message has the reason why it waits, and a failed one why it failed', async () => {
    const failedId = await send(ada, 'fails');
    const { id } = await number.wire.poll();
    await number.wire.poll({ last: String(id), last_status: 'failed', last_error: 'no network' });
    const first = await send(ada, 'waits');
    await send(ada, 'waits behind it');
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    const thread = await readMessages(member, number.phoneNumber, ada);
    assert.deepEqual(thread.queued, { message_id: first, reason: 'number_paused', expected_at: null });
    const failed = thread.messages.find((message) => message.id === failedId);
    const {
      waiting_reason: _reason,
      expected_at: _at,
      contact_id: _id,
      ...detail
    } = (await team.api.get(`/v1/messages/${failedId}`)).json;
    assert.deepEqual(failed, { ...detail, sender: failed?.sender });
    assert.equal(failed?.error_code, 'device_error');
    assert.equal((await readMessages(member, number.phoneNumber, bob)).queued, null);
  });

  it('the answer names the number, and the opt-out of the contact', async () => {
    await team.api.put(`/v1/numbers/${number.numberId}`, { label: 'Support' });
    const id = await receive(number, ada, 'STOP');
    const thread = await readMessages(member, number.phoneNumber, ada);
    assert.deepEqual(thread.number, {
      id: number.numberId,
      phone_number: number.phoneNumber,
      label: 'Support',
      status: 'active',
      verified: true,
      removed: false,
      health: 'online',
    });
    assert.partialDeepStrictEqual(thread, { contact: ada, opt_out: { message_id: id } });
    await team.api.delete(`/v1/numbers/${number.numberId}`);
    const after = await readMessages(member, number.phoneNumber, ada);
    assert.deepEqual([after.number.removed, after.messages.length], [true, 1]);
  });

  it('the page of a contact without messages is empty, and that of an unknown number is 404', async () => {
    const empty = await readMessages(member, number.phoneNumber, bob);
    assert.deepEqual(
      [empty.messages, empty.cursor, empty.has_more, empty.unread_count, empty.read_until],
      [[], '', false, 0, null],
    );
    const others = await service.newTeam();
    const { phoneNumber } = await connectNumber(service, others);
    for (const unknown of ['+14155550999', phoneNumber, 'Support']) {
      const answer = await member.get(`${pathOf(member, unknown, ada)}/messages`);
      assert.equal(answer.status, 404, answer.text);
    }
    const stranger = await newMember(service, others, 'owner');
    const path = pathOf(member, number.phoneNumber, ada);
    assert.equal((await stranger.get(`${path}/messages`)).status, 404);
    for (const [query, param] of [
      ['?cursor=x', 'cursor'],
      ['?limit=0', 'limit'],
      ['?status=sent', 'status'],
    ]) {
      const answer = await member.get(`${path}/messages${query}`);
      assert.deepEqual([answer.status, field(answer.json, 'error.param')], [400, param], answer.text);
    }
    const long = await member.get(`${pathOf(member, number.phoneNumber, 'x'.repeat(321))}/messages`);
    assert.deepEqual([long.status, field(long.json, 'error.param')], [400, 'contact'], long.text);
  });

  it('all spellings of a contact open one conversation', async () => {
    const phones = ['+447911123456', '+4407911123456'] as const;
    await send(phones[1], '1');
    // Until the hand-out, this spelling of the contact exists only in the queue.
    assert.deepEqual(await texts(phones[0]), ['1']);
    await sendNext(number);
    await send(phones[0], '2');
    await receive(number, phones[0], '3');
    await receive(number, 'Ada@Example.com', '4');
    await receive(number, 'ada@example.com', '5');
    for (const spelling of phones) assert.deepEqual(await texts(spelling), ['3', '2', '1']);
    for (const spelling of ['ADA@example.com', 'ada@example.com'])
      assert.deepEqual(await texts(spelling), ['5', '4']);
    const { conversations } = await listConversations(member);
    assertEach(conversations, ({ contact, unread_count }) => `${contact} ${unread_count}`, [
      'ada@example.com 2',
      `${phones[0]} 1`,
    ]);
  });

  it('a contact may be any handle: its path is percent-encoded', async () => {
    for (const handle of ['262626', 'Ännchen / & 100 %?', 'Example Ltd', '../x']) {
      await receive(number, handle, 'Hello');
      assert.equal((await findConversation(member, handle))?.contact, handle);
      assert.deepEqual(await texts(handle), ['Hello']);
    }
  });
});
