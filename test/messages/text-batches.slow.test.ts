import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockTimeoutMs } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { createReceiveBatcher, type ReceiveBatcher } from '#server/messages/receive-batcher.ts';
import type { Inbound } from '#server/messages/receive-message.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { untilBlocked } from '#test/support/database/blocked-statements.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { refuseText } from '#test/support/database/table-faults.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { publishAll } from '#test/support/events/given-publication.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import {
  contactAt,
  deadlockCheckMs,
  deliverText,
  inboundOf,
  receiveAlone,
  textsOf,
} from '#test/support/messages/inbound-texts.ts';
import { lastMessagesOf, storedConversation } from '#test/support/messages/stored-conversations.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectMany, type OneOfMany } from '#test/support/phones/many-phones.ts';
import { givenRuntime } from '#test/support/service/given-runtime.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { receivedByDay } from '#test/support/usage/stored-usage.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const isReceived = ({ type }: { readonly type: string }) => type === 'message.received';

describe('inbound texts that share commits (specification section 11.5)', () => {
  // No sweep runs in the background.
  const { service, team } = givenTeam({ ROLES: 'api', DEVICE_HOLD_SECONDS: '25' });
  const other = givenRuntime(service);

  const newBatcher = (runtime: Runtime = service.runtime) => createReceiveBatcher(runtime);
  const deliver = (batcher: ReceiveBatcher, phone: OneOfMany, inbound: Inbound, runtime = service.runtime) =>
    deliverText(runtime, batcher, phone, inbound);

  async function onePhone(owner: TestTeam = team): Promise<OneOfMany> {
    const [phone] = await connectMany(service, owner, 1);
    assert.ok(phone);
    return phone;
  }
  const textsTo = (phone: OneOfMany) => textsOf(service, phone);
  const receivedBy = async ({ id }: TestTeam) => (await receivedByDay(service, id)).at(-1) ?? 0;

  it('forty texts of as many contacts are stored by one statement, in order, each once with one event (§6.1/one-per-change)', async () => {
    const owner = await service.newTeam();
    const phone = await onePhone(owner);
    const batcher = newBatcher();
    const watch = watchStatements(['messages.receive-texts', 'messages.insert-received', 'events.append']);
    const texts = Array.from({ length: 40 }, (_, index) => inboundOf(contactAt(index), `text ${index}`));
    const ids = await Promise.all(texts.map((inbound) => deliver(batcher, phone, inbound)));
    const names = watch.take();
    watch.stop();
    assert.deepEqual(names, ['messages.receive-texts', 'events.append']);
    assert.deepEqual(
      await textsTo(phone),
      texts.map(({ from, text }) => `${from} ${text}`),
    );
    assert.deepEqual(ids, ids.toSorted());
    assert.equal(await receivedBy(owner), 40);
    await publishAll(service);
    const { json } = await owner.api.get('/v1/events?limit=100');
    const feed = json.events as { type: string; sequence: number; data: { id: string } }[];
    const received = feed.filter(({ type }) => type === 'message.received');
    assert.deepEqual(
      received.map(({ data }) => data.id),
      ids,
      'the feed has the order of arrival',
    );
    assert.ok(received.every(({ sequence }) => sequence === 1));
    const conversation = await storedConversation(service, phone.number.phoneNumber, contactAt(39));
    assert.deepEqual([conversation?.openedBy, conversation?.unansweredCount], ['contact', 0]);
  });

  it('several texts of one contact in a batch are all stored, and the last one is the conversation’s last message', async () => {
    const owner = await service.newTeam();
    const one = await onePhone(owner);
    const { number, phone, contact } = one;
    const email = 'ada@example.com';
    await owner.api.send({ from: number.phoneNumber, to: contact, content: 'Hello' });
    assert.equal((await phone.claim(service.runtime)).kind, 'hand_out');
    assert.equal((await storedConversation(service, number.phoneNumber, contact))?.unansweredCount, 1);
    const batcher = newBatcher();
    const senders = [contact, email, 'Ada@example.com', contact, 'ADA@example.com', contact, email];
    const watch = watchStatements(['messages.receive-texts', 'messages.insert-received']);
    const ids = await Promise.all(
      senders.map((from, index) => deliver(batcher, one, inboundOf(from, `text ${index}`))),
    );
    assert.deepEqual(watch.take(), ['messages.receive-texts']);
    watch.stop();
    assert.equal(new Set(ids).size, senders.length);
    const conversation = await storedConversation(service, number.phoneNumber, contact);
    assert.deepEqual([conversation?.openedBy, conversation?.unansweredCount], ['team', 0]);
    const last = await lastMessagesOf(service, number.phoneNumber, contact);
    const newest = uuidOf('msg', ids[5] ?? '');
    assert.deepEqual([last?.lastMessageId, last?.lastInboundId, last?.handles], [newest, newest, []]);
    const byEmail = await lastMessagesOf(service, number.phoneNumber, email);
    assert.deepEqual([byEmail?.lastMessageId, byEmail?.handles], [uuidOf('msg', ids[6] ?? ''), []]);
    assert.equal(await receivedBy(owner), senders.length);
  });

  it('a shared text is stored as a text of its own is, with the same event (§6.2/message-received)', async () => {
    const phone = await onePhone();
    const stored = async (contact: string, id: string) => {
      const [event, ...more] = (await storedEvents(service, { teamId: team.id }))
        .map(({ body }) => JSON.parse(body))
        .filter(({ data }) => data.id === id);
      assert.deepEqual(more, []);
      const conversation = await storedConversation(service, phone.number.phoneNumber, contact);
      const { json } = await team.api.get(`/v1/messages/${id}`);
      return [id, event.id, contact]
        .reduce((text, value) => text.replaceAll(value, '…'), JSON.stringify({ json, event, conversation }))
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
        .replaceAll(/"last_\w+":"[\w-]+"/g, '');
    };
    const [first, second] = [contactAt(100), contactAt(101)];
    const shared = await deliver(newBatcher(), phone, inboundOf(first, 'Hello', { run: '7' }));
    const alone = await receiveAlone(service.runtime, phone, inboundOf(second, 'Hello', { run: '7' }));
    assert.ok(alone.kind === 'received');
    assert.equal(await stored(first, shared), await stored(second, publicId('msg', alone.id)));
  });

  const locks = {
    number: ({ number }: OneOfMany) => ({ phoneNumber: number.phoneNumber }),
    conversation: ({ contact }: OneOfMany) => ({ conversationWith: contact }),
  };
  for (const [name, rowsOf] of Object.entries(locks)) {
    it(`a lock on a ${name} delays the texts of that ${name} only, and no other ones of its team`, async (t) => {
      const phones = await connectMany(service, team, 5);
      const batcher = newBatcher();
      const receive = (text: string) =>
        phones.map((phone) => deliver(batcher, phone, inboundOf(phone.contact, text)));
      await Promise.all(receive('earlier'));
      const [locked] = phones;
      assert.ok(locked);
      const lock = await holdRowLock(service, rowsOf(locked));
      t.after(() => lock.release());
      const startedMs = performance.now();
      const [waiting, ...free] = receive('beside the lock');
      await Promise.all(free);
      assert.ok(performance.now() - startedMs < lockTimeoutMs, 'the others waited for no time-out');
      await lock.waiting(1);
      for (const phone of phones) assert.equal((await textsTo(phone)).length, phone === locked ? 1 : 2);
      await lock.release();
      assert.match(String(await waiting), /^msg_/);
      assert.equal((await textsTo(locked)).length, 2);
    });
  }

  it('a lock on the day’s count of a team delays the texts of that team only', async (t) => {
    const [stuck, free] = [await service.newTeam(), await service.newTeam()];
    const [waits, goes] = [await onePhone(stuck), await onePhone(free)];
    const batcher = newBatcher();
    for (const phone of [waits, goes])
      await deliver(batcher, phone, inboundOf(phone.contact, 'begin the day'));
    const lock = await holdRowLock(service, { receivedCountOf: stuck.id });
    t.after(() => lock.release());
    const startedMs = performance.now();
    const waiting = [1, 2].map((n) => deliver(batcher, waits, inboundOf(contactAt(n), `stuck ${n}`)));
    const inSameBatch = deliver(batcher, goes, inboundOf(contactAt(0), 'free 0'));
    for (let n = 1; n < 5; n += 1) await deliver(batcher, goes, inboundOf(contactAt(n), `free ${n}`));
    await inSameBatch;
    assert.ok(performance.now() - startedMs < deadlockCheckMs, 'the others waited for no time-out');
    await lock.waiting(2);
    assert.equal(await receivedBy(free), 6);
    await lock.release();
    await Promise.all(waiting);
    assert.equal(await receivedBy(stuck), 3);
  });

  it('a text that PostgreSQL refuses fails alone, and its repeat is stored', async (t) => {
    const owner = await service.newTeam();
    const phones = await connectMany(service, owner, 5);
    const fault = await refuseText(service, 'refused');
    t.after(() => fault.end().catch(() => undefined));
    const batcher = newBatcher();
    const deliveries = phones.map((phone, index) =>
      deliver(batcher, phone, inboundOf(phone.contact, index === 0 ? 'refused' : 'Hello', { run: '1' })),
    );
    const [failing, ...others] = deliveries;
    failing?.catch(() => undefined);
    await Promise.all(others);
    await assert.rejects(failing ?? Promise.resolve(), { code: '23514' });
    assert.equal(await receivedBy(owner), 4);
    await fault.end();
    const [refused] = phones;
    assert.ok(refused);
    await deliver(batcher, refused, inboundOf(refused.contact, 'refused', { run: '1' }));
    for (const phone of phones) assert.equal((await textsTo(phone)).length, 1);
    assert.equal(await receivedBy(owner), 5);
    assert.equal((await storedEvents(service, { teamId: owner.id })).filter(isReceived).length, 5);
  });

  it('the same text, given id and run twice in one batch are one message each', async () => {
    const owner = await service.newTeam();
    const phone = await onePhone(owner);
    const batcher = newBatcher();
    const contact = phone.contact;
    const texts = [
      inboundOf(contact, 'equal'),
      inboundOf(contact, 'of a run', { run: '1' }),
      inboundOf(contact, 'of an id', { deviceGivenId: 'a' }),
      inboundOf(contact, 'equal'),
      inboundOf(contact, 'of a run', { run: '1' }),
      inboundOf(contact, 'another text of that id', { deviceGivenId: 'a' }),
      inboundOf(contact, 'equal', { run: '2' }),
      inboundOf(contact, 'another text of that run', { run: '1' }),
      inboundOf(contact, 'of an id', { deviceGivenId: 'b' }),
    ];
    const ids = await Promise.all(texts.map((inbound) => deliver(batcher, phone, inbound)));
    const [equal, ofRun, ofId, , , , , otherText, otherId] = ids;
    assert.deepEqual(ids, [equal, ofRun, ofId, equal, ofRun, ofId, equal, otherText, otherId]);
    assert.equal(new Set(ids).size, 5);
    assert.deepEqual((await textsTo(phone)).map((text) => text.replace(`${contact} `, '')).toSorted(), [
      'another text of that run',
      'equal',
      'of a run',
      'of an id',
      'of an id',
    ]);
    assert.equal(await receivedBy(owner), 5);
  });

  it('a repeat of a stored text takes the long way, and the other texts of its batch share one statement', async () => {
    const phone = await onePhone();
    const batcher = newBatcher();
    const known = [{ deviceGivenId: 'a' }, { run: '1' }, {}].map((identity, n) =>
      inboundOf(contactAt(n), `known ${n}`, identity),
    );
    const ids = await Promise.all(known.map((inbound) => deliver(batcher, phone, inbound)));
    const watch = watchStatements(['messages.receive-texts', 'messages.insert-received']);
    const repeats = await Promise.all(
      [...known, inboundOf(contactAt(3), 'new'), inboundOf(contactAt(4), 'new')].map((inbound) =>
        deliver(batcher, phone, inbound),
      ),
    );
    // A batch that was rolled back would insert each new text in a transaction of its own.
    assert.deepEqual(watch.take(), ['messages.receive-texts']);
    watch.stop();
    assert.deepEqual(repeats.slice(0, 3), ids);
    assert.equal((await textsTo(phone)).length, 5);
  });

  it('a batch that meets a text which another process is storing is rolled back, and each text is stored once', async (t) => {
    const owner = await service.newTeam();
    const [phone, neighbour] = [await onePhone(owner), await onePhone()];
    // The other process has claimed the fingerprint, and its first count of the team's day waits for the team.
    const lock = await holdRowLock(service, { teamId: owner.id });
    t.after(() => lock.release());
    const equal = inboundOf(phone.contact, 'equal', { run: '1' });
    const first = receiveAlone(other, phone, equal);
    await lock.waiting(1);
    const batcher = newBatcher();
    const watch = watchStatements(['messages.receive-texts', 'messages.insert-received']);
    const deliveries = Promise.all([
      deliver(batcher, neighbour, inboundOf(contactAt(1), 'beside')),
      deliver(batcher, phone, equal),
    ]);
    await untilBlocked(service, 'messages.receive-texts');
    await lock.release();
    const outcome = await first;
    const [, repeat] = await deliveries;
    const names = watch.take();
    watch.stop();
    assert.equal(outcome.kind === 'received' && publicId('msg', outcome.id), repeat);
    // The neighbour's text is stored alone after the batch was rolled back.
    assert.deepEqual(names, ['messages.receive-texts', 'messages.insert-received']);
    assert.deepEqual(await textsTo(neighbour), [`${contactAt(1)} beside`]);
    assert.deepEqual(await textsTo(phone), [`${phone.contact} equal`]);
    assert.equal(await receivedBy(owner), 1);
    assert.equal((await storedEvents(service, { teamId: owner.id })).filter(isReceived).length, 1);
  });

  it('forty texts that two processes get simultaneously, each four times, are stored once each', async () => {
    const owner = await service.newTeam();
    const phones = await connectMany(service, owner, 4);
    const processes = [
      { runtime: service.runtime, batcher: newBatcher() },
      { runtime: other, batcher: newBatcher(other) },
    ];
    for (let round = 0; round < 3; round += 1) {
      const texts = phones.flatMap((phone) =>
        Array.from({ length: 10 }, (_, n) => {
          const identity = [{}, { run: `${round}` }, { deviceGivenId: `${round} ${n}` }][n % 3];
          return { phone, inbound: inboundOf(contactAt(n), `round ${round} text ${n}`, identity) };
        }),
      );
      const answers = await Promise.all(
        [...processes, ...processes].flatMap(({ runtime, batcher }) =>
          texts.map(({ phone, inbound }) => deliver(batcher, phone, inbound, runtime)),
        ),
      );
      for (const index of texts.keys())
        assert.equal(new Set(answers.filter((_, n) => n % texts.length === index)).size, 1);
      assert.equal(new Set(answers).size, 40);
      assert.equal(await receivedBy(owner), 40 * (round + 1));
    }
    for (const phone of phones) assert.equal((await textsTo(phone)).length, 30);
    assert.equal((await storedEvents(service, { teamId: owner.id })).filter(isReceived).length, 120);
  });

  it('texts beside a STOP of the same contact are all stored, and the contact is opted out (§4.6/keywords)', async () => {
    const owner = await service.newTeam();
    const phone = await onePhone(owner);
    const batcher = newBatcher();
    const texts = ['one', 'STOP', 'two', 'three'].map((text) => inboundOf(phone.contact, text));
    await Promise.all(texts.map((inbound) => deliver(batcher, phone, inbound)));
    assert.deepEqual(
      (await textsTo(phone)).toSorted(),
      texts.map(({ text }) => `${phone.contact} ${text}`).toSorted(),
    );
    const { json } = await owner.api.get('/v1/opt-outs');
    assert.ok(JSON.stringify(json).includes(phone.contact));
    assert.equal(await receivedBy(owner), 4);
  });

  it('a text of a contact whose opt-out was erased takes the long way, which restores the opt-out (§12.14/erased-opt-out)', async () => {
    const owner = await service.newTeam();
    const phone = await onePhone(owner);
    const batcher = newBatcher();
    await deliver(batcher, phone, inboundOf(phone.contact, 'STOP'));
    const admin = await newMember(service, owner, 'admin');
    const erased = await admin.post(admin.in('/erasures'), { contact: phone.contact });
    assert.equal(erased.json.status, 'erased', erased.text);
    const listed = async () =>
      JSON.stringify((await owner.api.get('/v1/opt-outs')).json).includes(phone.contact);
    assert.equal(await listed(), false);
    const watch = watchStatements(['messages.insert-received']);
    await Promise.all([
      deliver(batcher, phone, inboundOf(phone.contact, 'Hello again')),
      deliver(batcher, phone, inboundOf(contactAt(1), 'Hello')),
    ]);
    assert.equal(watch.take().length, 2);
    watch.stop();
    assert.equal(await listed(), true);
  });

  it('a batch refuses the texts of an ended device, and stores those of other phones (§4.6/deleted-number)', async () => {
    const owner = await service.newTeam();
    const [kept, deleted] = [await onePhone(owner), await onePhone(owner)];
    await owner.api.delete(`/v1/numbers/${deleted.number.numberId}`);
    const batcher = newBatcher();
    const outcomes = await Promise.all([
      deliver(batcher, deleted, inboundOf(contactAt(1), 'to the deleted number')),
      deliver(batcher, kept, inboundOf(contactAt(1), 'to the other number')),
    ]);
    assert.equal(outcomes[0], 'deleted');
    assert.match(String(outcomes[1]), /^msg_/);
    assert.deepEqual(await textsTo(deleted), []);
    assert.equal(await receivedBy(owner), 1);
  });
});
