import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  findConversation,
  givenReader,
  markRead,
  pathOf,
  readMessages,
  receive,
  sendNext,
} from '#test/support/dashboard/conversations.ts';
import { join, newMember, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';

const ada = '+14155550901';
const bob = '+14155550902';

describe('read marks of members', () => {
  const { service, team, member, number } = givenReader();

  const unread = async (of: TeamMember, contact = ada) => (await findConversation(of, contact))?.unread_count;
  const mark = (of: TeamMember, messageId: string) => markRead(of, number.phoneNumber, ada, messageId);

  it('a read mark belongs to one member, and leaves later messages unread', async () => {
    const other = await newMember(service, team, 'owner');
    const first = await receive(number, ada, '1');
    await receive(number, ada, '2');
    assert.deepEqual(await mark(member, first), { read_until: first, unread_count: 1 });
    assert.deepEqual([await unread(member), await unread(other)], [1, 2]);
    const third = await receive(number, ada, '3');
    assert.deepEqual(await mark(member, third), { read_until: third, unread_count: 0 });
    assert.deepEqual([await unread(member), await unread(other)], [0, 3]);
    const shown = await readMessages(member, number.phoneNumber, ada);
    assert.deepEqual([shown.read_until, shown.unread_count], [third, 0]);
  });

  it('a read mark never moves back', async () => {
    const first = await receive(number, ada, '1');
    const second = await receive(number, ada, '2');
    await mark(member, second);
    assert.deepEqual(await mark(member, first), { read_until: second, unread_count: 0 });
    assert.equal(await unread(member), 0);
  });

  it('the latest of simultaneous read marks stays', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 8; index += 1) ids.push(await receive(number, ada, String(index)));
    await Promise.all(ids.toReversed().map((id) => mark(member, id)));
    assert.equal((await readMessages(member, number.phoneNumber, ada)).read_until, ids.at(-1));
  });

  it('messages from before a member’s latest joining count as read for that member', async () => {
    await receive(number, ada, 'before');
    service.clock.advance(1_000);
    const later = await newMember(service, team, 'member');
    // The member joins a second team, so that the session outlives the later removal from this team.
    await join(service, await service.newTeam(), later, 'viewer');
    assert.equal(await unread(later), 0);
    service.clock.advance(1_000);
    await receive(number, ada, 'after');
    assert.deepEqual([await unread(later), await unread(member)], [1, 2]);
    const owner = await newMember(service, team, 'owner');
    assert.equal((await owner.delete(owner.in(`/team/members/${later.memberId}`))).status, 200);
    assert.equal((await later.get(later.in('/conversations'))).status, 404);
    service.clock.advance(1_000);
    const back = await join(service, team, later, 'viewer');
    assert.equal(await unread(back), 0);
  });

  it('a read mark on a message from before a member joined makes nothing unread', async () => {
    const before = await receive(number, ada, '1');
    await receive(number, ada, '2');
    service.clock.advance(1_000);
    const later = await newMember(service, team, 'member');
    assert.deepEqual(await mark(later, before), { read_until: before, unread_count: 0 });
    assert.equal(await unread(later), 0);
  });

  it('messages of the team are never unread, and may be marked', async () => {
    const id = await team.api.send({ from: number.phoneNumber, to: ada, content: 'Hello' });
    assert.equal(await unread(member), 0);
    await receive(number, ada, 'reply');
    assert.equal((await mark(member, id)).unread_count, 1);
  });

  it('replies of other members and of keys do not move a member’s read mark', async () => {
    const other = await newMember(service, team, 'owner');
    await receive(number, ada, 'Are you open?');
    const reply = { from: number.phoneNumber, to: ada, content: 'We are.' };
    assert.equal((await other.post(other.in('/messages/send'), reply)).status, 202);
    await team.api.send(reply);
    await sendNext(number);
    assert.equal(await unread(member), 1);
  });

  it('a message that a contact sent to another number of the team does not count as unread in the conversation', async () => {
    const other = await connectNumber(service, team);
    await receive(number, ada, 'here');
    for (let index = 0; index < 3; index += 1) await receive(other, ada, `there ${index}`);
    const { unread_count } = await readMessages(member, number.phoneNumber, ada);
    assert.equal(unread_count, 1);
  });

  it('marking a message of another conversation, number or team is 404', async () => {
    const other = await connectNumber(service, team);
    const own = await receive(number, ada, '1');
    const foreign = await service.newTeam();
    const foreignNumber = await connectNumber(service, foreign);
    const strangers = await receive(foreignNumber, ada, '1');
    const refused = [
      await receive(number, bob, '1'),
      await receive(other, ada, '1'),
      strangers,
      own.replace(/.{4}$/, '0000'),
    ];
    const path = `${pathOf(member, number.phoneNumber, ada)}/read`;
    for (const message_id of refused) {
      const answer = await member.put(path, { message_id });
      assert.equal(answer.status, 404, `${message_id}: ${answer.text}`);
    }
    assert.equal((await readMessages(member, number.phoneNumber, ada)).read_until, null);
    const stranger = await newMember(service, foreign, 'owner');
    assert.equal((await stranger.put(path, { message_id: own })).status, 404);
    for (const body of [{}, { message_id: 'x' }, { message_id: own, read: true }]) {
      const answer = await member.put(path, body);
      assert.equal(answer.status, 400, answer.text);
      assert.ok(field(answer.json, 'error.param'), answer.text);
    }
  });
});
