import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PublicConversation } from '#contract/conversation.ts';
import {
  givenReader,
  listConversations,
  readMessages,
  receive,
  reply,
  sendNext,
} from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';

const ada = '+14155550901';
const bob = '+14155550902';

describe('conversations for programs (specification section 4.9)', () => {
  const { service, team, member, number } = givenReader();
  const list = async (query = '') => {
    const { status, json, text } = await team.api.get(`/v1/conversations${query}`);
    assert.equal(status, 200, text);
    return json as unknown as { conversations: PublicConversation[]; cursor: string; has_more: boolean };
  };
  const contacts = async (query = '') => (await list(query)).conversations.map(({ contact }) => contact);
  const messagesOf = async (id: unknown, query = '') =>
    team.api.get(`/v1/conversations/${id}/messages${query}`);

  it('the list is that of the dashboard, without what belongs to a member (§4.9/list)', async () => {
    await receive(number, ada, '1');
    await receive(number, bob, '1');
    await team.api.send({ from: number.phoneNumber, to: ada, content: 'queued' });
    const shown = (await listConversations(member)).conversations.map(
      ({ id, phone_number, contact, contact_id, name, last_activity_at: last_message_at, waiting }) => {
        return { id, phone_number, contact, contact_id, name, last_message_at, waiting };
      },
    );
    const { conversations } = await list();
    assert.deepEqual(conversations, shown);
    const first = await list('?limit=1');
    assert.deepEqual([first.conversations, first.has_more], [shown.slice(0, 1), true]);
    const second = await list(`?limit=1&cursor=${first.cursor}`);
    assert.deepEqual([second.conversations, second.has_more], [shown.slice(1), false]);
    assert.equal(field((await team.api.get('/v1/conversations?unread=true')).json, 'error.param'), 'unread');
  });

  it('the list is filtered by number and by what waits (§4.9/list)', async () => {
    const other = await connectNumber(service, team);
    await receive(number, ada, '1');
    await receive(other, bob, '1');
    assert.deepEqual(await contacts(`?number=${encodeURIComponent(other.phoneNumber)}`), [bob]);
    const writer = await newMember(service, team, 'member');
    await reply(writer, other, bob);
    assert.deepEqual(await contacts('?waiting=true'), [ada]);
  });

  it('a conversation keeps its id and its messages if its number is connected again (§4.9/list)', async () => {
    await receive(number, ada, '1');
    const [before] = (await list()).conversations;
    await team.api.delete(`/v1/numbers/${number.numberId}`);
    const again = await connectNumber(service, team, number.phoneNumber);
    await receive(again, ada, '2');
    const [after] = (await list()).conversations;
    assert.equal(after?.id, before?.id);
    assert.equal(field((await messagesOf(after?.id)).json, 'messages.1.content'), '1');
  });

  it('the messages are those of the dashboard’s conversation, in pages, as GET /v1/messages shows them (§4.9/messages)', async () => {
    await receive(number, ada, '1');
    await team.api.send({ from: number.phoneNumber, to: ada, content: '2' });
    await sendNext(number);
    await receive(number, bob, 'of another conversation');
    await receive(number, ada, '3');
    const { json } = await team.api.get('/v1/messages');
    const known = json.messages as { id: string; from: string; to: string }[];
    const ofAda = known.filter(({ from, to }) => [from, to].includes(ada));
    const id = (await list()).conversations.find(({ contact }) => contact === ada)?.id;
    const all = await messagesOf(id);
    assert.deepEqual(all.json.messages, ofAda);
    const shown = await readMessages(member, number.phoneNumber, ada);
    assert.deepEqual([all.json.cursor, shown.id], [shown.cursor, id]);
    const page = await messagesOf(id, `?limit=1&cursor=${ofAda[0]?.id}`);
    assert.deepEqual([page.json.messages, page.json.has_more], [ofAda.slice(1, 2), true]);
  });

  it('a conversation with only queued messages has an id that leads to them (§4.9/messages)', async () => {
    const id = await team.api.send({ from: number.phoneNumber, to: ada, content: 'queued' });
    const [conversation] = (await list()).conversations;
    const { json } = await messagesOf(conversation?.id);
    assert.equal(field(json, 'messages.0.id'), id);
  });

  it('the id of another team’s conversation is unknown (§4.9/messages)', async () => {
    await receive(number, ada, '1');
    const [conversation] = (await list()).conversations;
    const other = await service.newTeam();
    const answer = await other.api.get(`/v1/conversations/${conversation?.id}/messages`);
    assert.equal(answer.status, 404);
  });
});
