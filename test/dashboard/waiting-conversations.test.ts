import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  countWaiting,
  findConversation,
  givenReader,
  listConversations,
  pathOf,
  receive,
  sendNext,
  setWaiting,
} from '#test/support/dashboard/conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';

const ada = '+14155550901';
const bob = '+14155550902';

describe('conversations that wait for the team (specification section 12.4)', () => {
  const { service, team, member, number } = givenReader();
  const waiting = async () =>
    (await listConversations(member, '?waiting=true')).conversations.map(({ contact }) => contact);

  it('a contact’s text makes a conversation wait for each member, later ones included (§12.4/waiting)', async () => {
    await receive(number, ada, '1');
    await receive(number, bob, '1');
    await receive(number, ada, '2');
    const later = await newMember(service, team, 'member');
    assert.deepEqual([await countWaiting(member), await countWaiting(later)], [2, 2]);
    assert.deepEqual(await waiting(), [ada, bob]);
    assert.equal((await findConversation(later, bob))?.waiting, true);
  });

  it('done ends the waiting up to the message that was seen, and can be taken back (§12.4/waiting)', async () => {
    const writer = await newMember(service, team, 'member');
    const first = await receive(number, ada, '1');
    const second = await receive(number, ada, '2');
    const set = async (isWaiting: boolean, message_id: string) => {
      const { json } = await setWaiting(writer, number, ada, { waiting: isWaiting, message_id });
      return json;
    };
    assert.deepEqual(await set(false, first), { waiting: true });
    assert.deepEqual(await set(false, second), { waiting: false });
    assert.deepEqual(await waiting(), []);
    assert.deepEqual(await set(true, second), { waiting: true });
    assert.deepEqual(await set(false, second), { waiting: false });
    await receive(number, ada, '3');
    assert.deepEqual(await waiting(), [ada]);
  });

  it('a conversation goes on waiting if its number is connected again, and is done for all of its connections', async () => {
    const writer = await newMember(service, team, 'member');
    const text = await receive(number, ada, '1');
    const before = await findConversation(member, ada);
    await team.api.delete(`/v1/numbers/${number.numberId}`);
    const again = await connectNumber(service, team, number.phoneNumber);
    await team.api.send({ from: number.phoneNumber, to: ada, content: 'Hello' });
    await sendNext(again);
    const after = await findConversation(member, ada);
    assert.deepEqual([after?.id, after?.waiting], [before?.id, true]);
    assert.deepEqual(await waiting(), [ada]);
    await setWaiting(writer, number, ada, { waiting: false, message_id: text });
    assert.deepEqual([await waiting(), await countWaiting(member)], [[], 0]);
  });

  it('a message of another conversation is refused', async () => {
    const writer = await newMember(service, team, 'member');
    const other = await receive(number, bob, '1');
    await receive(number, ada, '1');
    const answer = await setWaiting(writer, number, ada, { waiting: false, message_id: other });
    assert.equal(answer.status, 404, pathOf(writer, number.phoneNumber, ada));
  });
});
