import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claimConversation, findAnswer } from '#server/messages/answer-store.ts';
import { endWaiting } from '#server/messages/conversation-store.ts';
import {
  countWaiting,
  findConversation,
  givenReader,
  receive,
  reply,
} from '#test/support/dashboard/conversations.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { newMember } from '#test/support/people/people.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { givenEach } from '#test/support/service/given.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const ada = '+14155550901';

describe('answers to a conversation (specification section 12.4)', () => {
  const { service, team, member: viewer, number } = givenReader();
  const one = givenEach(() => newMember(service, team, 'member', { name: 'One Example' }));
  const other = givenEach(() => newMember(service, team, 'member'));
  const isWaiting = async () => (await findConversation(viewer, ada))?.waiting;
  const newKey = async (answers_for_team: boolean) => {
    const owner = await newMember(service, team, 'owner');
    const body = { name: 'Bot', permissions: ['messages:send'], answers_for_team };
    const { json } = await owner.post(owner.in('/keys'), body);
    const { json: list } = await owner.get(owner.in('/keys'));
    assert.equal(field(list, 'keys.0.answers_for_team'), answers_for_team || undefined);
    return new ApiClient(service.baseUrl, String(json.key));
  };

  it('a reply ends the waiting up to the message that its writer saw (§12.4/answers)', async () => {
    const first = await receive(number, ada, '1');
    const second = await receive(number, ada, '2');
    for (const seen_message_id of [null, first]) {
      assert.equal((await reply(one, number, ada, { seen_message_id, answer_anyway: true })).status, 202);
      assert.equal(await isWaiting(), true);
    }
    await reply(one, number, ada, { seen_message_id: second, answer_anyway: true });
    assert.equal(await isWaiting(), false);
    await receive(number, ada, '3');
    assert.equal(await isWaiting(), true);
    await reply(one, number, ada);
    assert.equal(await countWaiting(viewer), 0);
  });

  it('a send by a key ends the waiting only if the key answers for the team (§12.4/answers)', async () => {
    const [bot, silent] = [await newKey(true), await newKey(false)];
    const text = await receive(number, ada, '1');
    const watch = watchStatements(['messages.accept', 'messages.claim-conversation', 'messages.end-waiting']);
    await silent.send({ from: number.phoneNumber, to: ada, content: 'A reminder' });
    watch.stop();
    assert.deepEqual([...new Set(watch.take())], ['messages.accept-sends']);
    assert.equal(await isWaiting(), true);
    const id = await bot.send({ from: number.phoneNumber, to: ada, content: 'Hello' });
    assert.equal(await isWaiting(), false);
    const refused = await reply(one, number, ada, { seen_message_id: text });
    assert.equal(field(refused.json, 'error.answer.message.id'), id, refused.text);
    assert.equal(field(refused.json, 'error.answer.message.sender.name'), 'Bot');
  });

  it('a reply is refused with the answer that its writer did not see, and sent on a second yes (§12.4/one-answer)', async () => {
    const text = await receive(number, ada, '1');
    const seen = { seen_message_id: text };
    const first = await reply(one, number, ada, seen);
    const refused = await reply(other, number, ada, seen);
    assert.equal(refused.status, 409, refused.text);
    assert.equal(field(refused.json, 'error.answer.message.id'), first.json.id);
    assert.equal(field(refused.json, 'error.answer.message.sender.name'), 'One Example');
    assert.equal((await reply(one, number, ada, seen)).status, 409, 'at another desk of its writer');
    const own = { ...seen, seen_answer_id: String(first.json.id) };
    assert.equal((await reply(one, number, ada, own)).status, 202, 'after the own reply');
    assert.equal((await reply(other, number, ada, { ...seen, answer_anyway: true })).status, 202);
    assert.equal((await reply(one, number, ada, seen)).status, 409);
    const latest = await receive(number, ada, '2');
    assert.equal((await reply(one, number, ada, { seen_message_id: latest })).status, 202);
  });

  it('one of two replies at an instant is accepted, and the other is refused (§12.4/one-answer)', async () => {
    for (let round = 0; round < 10; round += 1) {
      const seen = { seen_message_id: await receive(number, ada, String(round)) };
      const both = await Promise.all([one, other].map((writer) => reply(writer, number, ada, seen)));
      assert.deepEqual(both.map(({ status }) => status).sort(), [202, 409]);
    }
  });

  it('a repeat with the same Idempotency-Key is answered as before, also after the answer of another member (§12.4/one-answer)', async () => {
    const seen = { seen_message_id: await receive(number, ada, '1') };
    const first = await reply(one, number, ada, seen, 'once');
    assert.equal((await reply(one, number, ada, seen, 'once')).text, first.text);
    const refused = await reply(other, number, ada, seen);
    assert.equal(field(refused.json, 'error.answer.message.id'), first.json.id, refused.text);
    await reply(other, number, ada, { ...seen, answer_anyway: true });
    assert.equal((await reply(one, number, ada, seen, 'once')).text, first.text);
    assert.equal((await reply(one, number, ada, seen, 'twice')).status, 409);
  });

  it('a reply that is refused leaves the conversation to others (§12.4/one-answer)', async () => {
    const seen = { seen_message_id: await receive(number, ada, '1') };
    const refused = await reply(one, number, ada, { ...seen, content: ' ' });
    assert.equal(refused.status, 400);
    assert.equal((await reply(other, number, ada, seen)).status, 202);
    assert.equal((await reply(one, { phoneNumber: '+14155550777' }, ada, seen)).status, 400);
  });

  const failures: [string, (id: string) => Promise<unknown>][] = [
    ['is cancelled', (id) => one.post(one.in(`/messages/${id}/cancel`))],
    [
      'fails on the phone',
      async (id) => {
        assert.equal((await number.wire.poll()).id, id);
        await number.wire.call('status', { id, status: 'failed', error: 'no network' });
      },
    ],
  ];
  for (const [when, fail] of failures)
    it(`a conversation waits again once its answer ${when}, unless a later answer stands (§12.4/failed-answers)`, async () => {
      const seen = { seen_message_id: await receive(number, ada, '1') };
      const first = await reply(one, number, ada, seen);
      const second = await reply(one, number, ada, { seen_message_id: String(first.json.id) });
      await fail(String(first.json.id));
      assert.equal(await isWaiting(), false, 'the second answer stands');
      assert.equal((await reply(other, number, ada, seen)).status, 409);
      await fail(String(second.json.id));
      assert.equal(await isWaiting(), true);
      assert.equal((await reply(other, number, ada, seen)).status, 202, 'no answer is left');
      assert.equal(await isWaiting(), false);
    });

  it('the answer before one that was cancelled counts again (§12.4/failed-answers)', async () => {
    const seen = { seen_message_id: await receive(number, ada, '1') };
    const first = await reply(one, number, ada, seen);
    const second = await reply(one, number, ada, { seen_message_id: String(first.json.id) });
    await one.post(one.in(`/messages/${second.json.id}/cancel`));
    const refused = await reply(other, number, ada, seen);
    assert.equal(field(refused.json, 'error.answer.message.id'), first.json.id, refused.text);
  });

  it('an answer counts as seen only by its own id, not by that of a later text (§12.4/one-answer)', async () => {
    const text = await receive(number, ada, '1');
    const first = await reply(one, number, ada, { seen_message_id: text });
    const seen = { seen_message_id: await receive(number, ada, '2'), seen_answer_id: null };
    assert.equal((await reply(other, number, ada, seen)).status, 409);
    const both = { ...seen, seen_answer_id: String(first.json.id) };
    assert.equal((await reply(other, number, ada, both)).status, 202);
  });

  it('a send that is refused forgets no reply that is being sent, nor the answer before (§12.4/one-answer)', async () => {
    const seen = { seen_message_id: await receive(number, ada, '1') };
    const bot = await newKey(true);
    const { runtime } = service;
    const claim = {
      teamId: team.id,
      phoneNumber: number.phoneNumber,
      contact: ada,
      messageId: runtime.ids.next('msg'),
      by: uuidOf('usr', one.memberId),
      idempotencyKey: 'once',
      seenId: null,
      freshId: uuidOf('msg', seen.seen_message_id),
    };
    assert.ok(await claimConversation(runtime.database.pool, claim));
    const body = { from: number.phoneNumber, to: ada, content: ' ' };
    assert.equal((await bot.post('/v1/messages/send', body)).status, 400);
    assert.equal((await reply(one, number, ada, { ...seen, content: ' ', answer_anyway: true })).status, 400);
    assert.equal((await reply(other, number, ada, seen)).status, 409);
    assert.equal((await reply(one, number, ada, seen, 'once')).status, 202, 'its repeat');
    assert.equal((await bot.post('/v1/messages/send', body)).status, 400);
    assert.equal((await reply(other, number, ada, seen)).status, 409);
  });

  it('the repeat of a send by a key does not replace the answer after it (§12.4/one-answer)', async () => {
    const seen = { seen_message_id: await receive(number, ada, '1') };
    const bot = await newKey(true);
    const body = { from: number.phoneNumber, to: ada, content: 'Hello' };
    const key = { 'idempotency-key': 'once' };
    await bot.post('/v1/messages/send', body, key);
    const answer = await reply(other, number, ada, { ...seen, answer_anyway: true });
    await bot.post('/v1/messages/send', body, key);
    const refused = await reply(one, number, ada, seen);
    assert.equal(field(refused.json, 'error.answer.message.id'), answer.json.id, refused.text);
  });

  it('a reply from a number that the team never had leaves nothing of the contact (§12.14/erase)', async () => {
    const { runtime } = service;
    const strange = { teamId: team.id, phoneNumber: '+14155550777', contact: ada };
    const claim = {
      ...strange,
      messageId: runtime.ids.next('msg'),
      by: uuidOf('usr', one.memberId),
      idempotencyKey: null,
      seenId: null,
      freshId: runtime.ids.next('msg'),
    };
    assert.equal(await claimConversation(runtime.database.pool, claim), false);
    assert.equal(await findAnswer(runtime.database.pool, strange), undefined);
  });

  it('a text that is stored after an answer waits, also if its id is older, as that of a text with a file (§12.4/answers)', async () => {
    await receive(number, ada, '1');
    const { runtime, clock } = service;
    const untilId = runtime.ids.next('msg', clock.nowMs() + 60_000);
    const key = { teamId: team.id, phoneNumber: number.phoneNumber, contact: ada };
    await endWaiting(runtime.database.pool, { ...key, untilId });
    assert.equal(await isWaiting(), false);
    await receive(number, ada, '2');
    assert.equal(await isWaiting(), true);
  });

  it('a reply whose process died is taken over after 30 s (§12.4/one-answer)', async () => {
    const seen = { seen_message_id: await receive(number, ada, '1') };
    const { runtime, clock } = service;
    await claimConversation(runtime.database.pool, {
      teamId: team.id,
      phoneNumber: number.phoneNumber,
      contact: ada,
      messageId: runtime.ids.next('msg'),
      by: uuidOf('usr', one.memberId),
      idempotencyKey: null,
      seenId: null,
      freshId: uuidOf('msg', seen.seen_message_id),
    });
    const refused = await reply(other, number, ada, seen);
    assert.deepEqual([refused.status, field(refused.json, 'error.answer')], [409, { message: null }]);
    clock.advance(31_000);
    assert.equal((await reply(other, number, ada, seen)).status, 202);
  });

  it('a key cannot send the fields of a reply (§2.1/unknown-fields)', async () => {
    const answer = await reply(
      { post: team.api.post.bind(team.api), in: (path) => `/v1${path}` },
      number,
      ada,
      {
        answer_anyway: true,
      },
    );
    assert.deepEqual([answer.status, field(answer.json, 'error.param')], [400, 'answer_anyway']);
  });
});
