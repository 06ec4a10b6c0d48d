import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockTimeoutMs } from '#server/database/database.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { untilTriedAgain, watchStatements } from '#test/support/database/watch-statements.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectMany, type OneOfMany, sendFromEach } from '#test/support/phones/direct-phone.ts';
import { assertUnavailable } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

describe('phones of a team that call together (specification sections 11.4 and 11.5)', () => {
  // No sweep runs in the background, so messages change by calls of phones only.
  const { service, team } = givenTeam({ ROLES: 'api', DEVICE_HOLD_SECONDS: '25' });

  const pollAll = (phones: readonly OneOfMany[], last: readonly string[] = []) =>
    phones.map(({ number }, index) => number.wire.poll(last[index] ? { last: last[index] } : {}));
  const idsOf = async (answers: readonly Promise<{ readonly id?: string }>[]) =>
    (await Promise.all(answers)).map(({ id }) => id);
  /** Runs work, and counts its statements with these names. */
  async function countStatements<T>(
    names: readonly string[],
    work: () => Promise<T>,
  ): Promise<[T, number[]]> {
    const watch = watchStatements(names);
    const result = await work();
    const run = watch.take();
    watch.stop();
    return [result, names.map((name) => run.filter((statement) => statement === name).length)];
  }

  it('forty phones that poll, report and deliver texts at once share a few statements, and each gets its own message once (§3.2/handed-out-once, §3.1/reported-sent)', async () => {
    const phones = await connectMany(service, team, 40);
    const [first, second] = [
      await sendFromEach(team, phones, 'one'),
      await sendFromEach(team, phones, 'two'),
    ];
    const polling = ['device-protocol.look-up-polls', 'messages.claim', 'messages.confirm-sent'];
    const [handedOut, polls] = await countStatements(polling, () => idsOf(pollAll(phones)));
    assert.deepEqual(handedOut, first);
    const [next, reports] = await countStatements(polling, () => idsOf(pollAll(phones, first)));
    assert.deepEqual(next, second);
    const texts = await Promise.all(
      phones.map(({ number, contact }) =>
        number.wire.call('inbound', { from: contact, text: `from ${contact}` }),
      ),
    );
    assert.equal(new Set(texts.map(({ ok, id }) => (ok === '1' ? id : ''))).size, 40);
    for (const count of [...polls.slice(0, 2), ...reports])
      assert.ok(count >= 1 && count <= 20, `statements: ${[polls, reports].join('; ')}`);
    const messages = await storedMessages(service, { teamId: team.id });
    for (const { contact, number } of phones) {
      const seen = messages
        .filter(({ to, from }) => [to, from].includes(contact) && [to, from].includes(number.phoneNumber))
        .map(({ content, status, handOutCount }) => [content, status, handOutCount]);
      assert.deepEqual(seen, [
        [`one ${contact}`, 'sent', 1],
        [`two ${contact}`, 'polling', 1],
        [`from ${contact}`, 'received', 0],
      ]);
    }
    const events = await storedEvents(service, { teamId: team.id });
    for (const type of ['message.sent', 'message.received'])
      assert.equal(events.filter((event) => event.type === type).length, 40, type);
  });

  it('locked phones of many teams, more than there are hot connections, delay no phone of another team and no send', async (t) => {
    const teams = await Promise.all(Array.from({ length: 5 }, () => service.newTeam()));
    const three = await Promise.all(
      teams.map(async (each) => {
        const phones = await connectMany(service, each, 3);
        return { phones, ids: await sendFromEach(each, phones, 'to') };
      }),
    );
    const stuck = three.flatMap(({ phones }) => phones);
    const free = await connectMany(service, team, 6);
    const ids = await sendFromEach(team, free, 'to');
    const numberOf = ({ number }: OneOfMany) => number.phoneNumber;
    // Half of the phones wait in their look-up, and the others in their claim.
    const sessions = await holdRowLock(service, { sessionOf: stuck.slice(0, 8).map(numberOf) });
    const numbers = await holdRowLock(service, { phoneNumber: stuck.slice(8).map(numberOf) });
    t.after(() => Promise.all([sessions.release(), numbers.release()]));
    const startedMs = performance.now();
    const waiting = pollAll(stuck);
    await untilTriedAgain('messages.claim');
    assert.deepEqual(await idsOf(pollAll(free)), ids);
    const more = await sendFromEach(team, free, 'more');
    assert.deepEqual(await idsOf(pollAll(free, ids)), more);
    for (const { number, contact } of free)
      assert.equal((await number.wire.call('inbound', { from: contact, text: 'Hello' })).ok, '1');
    assert.ok(performance.now() - startedMs < lockTimeoutMs, 'the others waited for no time-out');
    await Promise.all([sessions.release(), numbers.release()]);
    assert.deepEqual(
      await idsOf(waiting),
      three.flatMap(({ ids }) => ids),
    );
  });

  it('a phone whose session or number stays locked beyond the time-out is answered unavailable, and no other phone is', async (t) => {
    const phones = await connectMany(service, team, 4);
    const ids = await sendFromEach(team, phones, 'to');
    const [session, number] = phones;
    assert.ok(session && number);
    const locks = [
      await holdRowLock(service, { sessionOf: session.number.phoneNumber }),
      await holdRowLock(service, { phoneNumber: number.number.phoneNumber }),
    ];
    t.after(() => Promise.all(locks.map((lock) => lock.release())));
    const text = number.number.wire.call('inbound', { from: number.contact, text: 'Hello' });
    const [withSession, withNumber, ...free] = pollAll(phones);
    assert.deepEqual(await idsOf(free), ids.slice(2));
    assertUnavailable(await withSession);
    assertUnavailable(await withNumber);
    assert.deepEqual(await text, { ok: '0', reason: 'unavailable' });
    await Promise.all(locks.map((lock) => lock.release()));
    assert.deepEqual(await idsOf(pollAll([session, number])), ids.slice(0, 2));
    const again = await number.number.wire.call('inbound', { from: number.contact, text: 'Hello' });
    assert.equal(again.ok, '1');
  });
});
