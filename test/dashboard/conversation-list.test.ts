import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  findConversation,
  givenReader,
  listConversations,
  receive,
  sendNext,
} from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';

const ada = '+14155550901';
const bob = '+14155550902';
const eve = '+14155550903';

describe('the list of conversations', () => {
  const { service, team, member, number } = givenReader();

  const send = (to: string, content: string, from = number.phoneNumber) =>
    team.api.send({ from, to, content });
  /** The list as texts: `contact: text of the last message`. */
  const shown = async (query = '') =>
    (await listConversations(member, query)).conversations.map(
      ({ contact, last_message }) => `${contact}: ${last_message?.content}`,
    );

  it('a received message, a hand-out and a waiting message bring their conversation to the top', async () => {
    await receive(number, ada, 'from Ada');
    await receive(number, bob, 'from Bob');
    assert.deepEqual(await shown(), [`${bob}: from Bob`, `${ada}: from Ada`]);
    await send(ada, 'to Ada');
    assert.deepEqual(await shown(), [`${ada}: to Ada`, `${bob}: from Bob`]);
    await receive(number, bob, 'again');
    assert.deepEqual(await shown(), [`${bob}: again`, `${ada}: to Ada`]);
    await sendNext(number);
    assert.deepEqual(await shown(), [`${ada}: to Ada`, `${bob}: again`]);
  });

  it('a conversation in the list has each of its fields', async () => {
    await team.api.put(`/v1/numbers/${number.numberId}`, { label: 'Support' });
    const inboundId = await receive(number, ada, 'Hello');
    const { conversations } = await listConversations(member);
    assert.match(conversations[0]?.id ?? '', /^cnv_/);
    const newest = (await team.api.get('/v1/messages')).json.messages?.[0 as never] as object | undefined;
    assert.deepEqual(conversations, [
      {
        id: conversations[0]?.id,
        phone_number: number.phoneNumber,
        number_label: 'Support',
        number_removed: false,
        contact: ada,
        contact_id: null,
        name: null,
        waiting: true,
        last_message: { ...newest, sender: null },
        last_activity_at: field((await team.api.get(`/v1/messages/${inboundId}`)).json, 'created_at'),
        unread_count: 1,
        queued_count: 0,
        opted_out: false,
      },
    ]);
    const queuedId = await send(ada, 'to Ada');
    await send(ada, 'to Ada, once more');
    const waiting = await findConversation(member, ada);
    const { created_at } = (await team.api.get(`/v1/messages/${queuedId}`)).json;
    assert.equal(waiting?.queued_count, 2);
    assert.ok(String(waiting?.last_activity_at) >= String(created_at));
    await receive(number, ada, 'STOP');
    const stopped = await findConversation(member, ada);
    assert.deepEqual([stopped?.opted_out, stopped?.queued_count], [true, 0]);
    assert.equal(stopped?.last_message?.content, 'STOP');
  });

  it('a conversation with only waiting messages is listed until they fail before a hand-out', async () => {
    const id = await send(ada, 'to Ada');
    assert.deepEqual(await shown(), [`${ada}: to Ada`]);
    assert.equal((await team.api.post(`/v1/messages/${id}/cancel`)).status, 200);
    assert.deepEqual(await shown(), []);
  });

  it('the count of waiting messages stops at 100', async () => {
    for (let index = 0; index < 101; index += 1) await send(ada, String(index));
    assert.equal((await findConversation(member, ada))?.queued_count, 100);
    for (let index = 0; index < 101; index += 1) await receive(number, bob, `text ${index}`);
    assert.equal((await findConversation(member, bob))?.unread_count, 100);
  });

  it('filters select the conversations of one number, or those with unread messages', async () => {
    const other = await connectNumber(service, team);
    await receive(number, ada, 'to the first');
    await receive(other, ada, 'to the second');
    await send(bob, 'to Bob');
    await send(eve, 'to Eve', other.phoneNumber);
    const own = `?number=${encodeURIComponent(other.phoneNumber)}`;
    assert.deepEqual(await shown(own), [`${eve}: to Eve`, `${ada}: to the second`]);
    assert.deepEqual(await shown('?unread=true'), [`${ada}: to the second`, `${ada}: to the first`]);
    assert.deepEqual(await shown(`${own}&unread=true`), [`${ada}: to the second`]);
    assert.equal((await shown('?unread=false')).length, 4);
    assert.deepEqual(await shown('?number=%2B14155550999'), []);
  });

  it('a number that was deleted and connected again keeps its conversations, each listed once', async () => {
    await receive(number, ada, 'before');
    await receive(number, bob, 'before, too');
    assert.equal((await team.api.delete(`/v1/numbers/${number.numberId}`)).status, 200);
    assert.equal((await findConversation(member, ada))?.number_removed, true);
    const again = await connectNumber(service, team, number.phoneNumber);
    await receive(again, ada, 'after');
    assert.deepEqual(await shown(), [`${ada}: after`, `${bob}: before, too`]);
    assert.equal((await findConversation(member, ada))?.number_removed, false);
    assert.equal((await findConversation(member, ada))?.unread_count, 2);
    await send(bob, 'to Bob');
    assert.deepEqual(await shown(), [`${bob}: to Bob`, `${ada}: after`]);
  });

  it('a message without a known sender is in no conversation', async () => {
    await receive(number, 'none', 'from a person without a number');
    await receive(number, ada, 'from Ada');
    assert.deepEqual(await shown(), [`${ada}: from Ada`]);
  });

  it('the pages show each conversation once, even while messages arrive', async () => {
    const contacts = Array.from({ length: 23 }, (_, index) => `+1415555${String(1_000 + index)}`);
    for (const [index, contact] of contacts.entries()) {
      if (index % 4 === 0) await send(contact, 'Hello');
      else await receive(number, contact, 'Hello');
    }
    const seen: string[] = [];
    for (let cursor = '', pages = 1; ; pages += 1) {
      const page = await listConversations(member, `?limit=4&cursor=${cursor}`);
      seen.push(...page.conversations.map(({ contact }) => contact));
      if (!page.has_more) break;
      assert.ok(page.conversations.length === 4 && pages < 10, String(pages));
      cursor = page.cursor;
      await receive(number, `+1415555${2_000 + pages}`, 'in between');
      await send(`+1415555${3_000 + pages}`, 'in between');
      // A conversation that an earlier page showed moves to the top by a new message. Later pages must not repeat it.
      await receive(number, contacts.at(-2) ?? '', `again ${pages}`);
    }
    assert.deepEqual(seen, contacts.toReversed());
  });

  it('the cursor of an empty page is empty, and a malformed one is refused', async () => {
    assert.deepEqual(await listConversations(member), { conversations: [], cursor: '', has_more: false });
    for (const cursor of ['x', '1_2', `${'9'.repeat(15)}_01990000-0000-7000-8000-000000000001`, '%00']) {
      const answer = await member.get(member.in(`/conversations?cursor=${cursor}`));
      assert.deepEqual([answer.status, field(answer.json, 'error.param')], [400, 'cursor'], answer.text);
    }
    for (const [param, text] of [
      ['limit', '101'],
      ['limit', '0'],
      ['number', 'Support'],
      ['unread', 'perhaps'],
      ['contact', ada],
    ]) {
      const answer = await member.get(member.in(`/conversations?${param}=${text}`));
      assert.deepEqual([answer.status, field(answer.json, 'error.param')], [400, param], answer.text);
    }
  });

  it('two teams have separate conversations with the same contact', async () => {
    await receive(number, ada, 'Hello');
    const otherTeam = await service.newTeam();
    const stranger = await newMember(service, otherTeam, 'owner');
    assert.deepEqual((await listConversations(stranger)).conversations, []);
    assert.equal((await stranger.get(member.in('/conversations'))).status, 404);
  });
});
