import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharedTextMaxCharacters } from '#server/messages/limits.ts';
import { createReceiveBatcher, type ReceiveBatcher } from '#server/messages/receive-batcher.ts';
import type { Inbound } from '#server/messages/receive-message.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { untilBlocked } from '#test/support/database/blocked-statements.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import {
  contactAt,
  deadlockCheckMs,
  deliverText,
  inboundOf,
  receiveAlone,
  textsOf,
} from '#test/support/messages/inbound-texts.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectMany, type OneOfMany } from '#test/support/phones/many-phones.ts';
import { givenRuntime } from '#test/support/service/given-runtime.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { receivedByDay } from '#test/support/usage/stored-usage.ts';

describe('bounds of inbound texts that share commits (specification section 11.5)', () => {
  // No sweep runs in the background.
  const { service, team } = givenTeam({ ROLES: 'api', DEVICE_HOLD_SECONDS: '25' });
  const other = givenRuntime(service);

  const newBatcher = () => createReceiveBatcher(service.runtime);
  const deliver = (batcher: ReceiveBatcher, phone: OneOfMany, inbound: Inbound) =>
    deliverText(service.runtime, batcher, phone, inbound);
  async function onePhone(owner: TestTeam = team): Promise<OneOfMany> {
    const [phone] = await connectMany(service, owner, 1);
    assert.ok(phone);
    return phone;
  }
  const textsTo = (phone: OneOfMany) => textsOf(service, phone);
  const receivedBy = async ({ id }: TestTeam) => (await receivedByDay(service, id)).at(-1) ?? 0;

  it('a text of its own and a batch that wait for each other go on without a deadlock check, and each text is stored once', async (t) => {
    const owner = await service.newTeam();
    const [phone, neighbour] = [await onePhone(owner), await onePhone()];
    const { contact } = phone;
    await receiveAlone(service.runtime, phone, inboundOf(contact, 'STOP'));
    // The other process has claimed the given id, and waits before it locks the conversation.
    const lock = await holdRowLock(service, { optOutOf: contact });
    t.after(() => lock.release());
    const alone = receiveAlone(other, phone, inboundOf(contact, 'START', { deviceGivenId: 'a' }));
    alone.catch(() => undefined);
    await lock.waiting(1);
    const batcher = newBatcher();
    // The batch locks the conversation, and waits for the given id.
    const shared = Promise.all([
      deliver(batcher, phone, inboundOf(contact, 'Hello', { deviceGivenId: 'a' })),
      deliver(batcher, neighbour, inboundOf(contactAt(1), 'beside')),
    ]);
    shared.catch(() => undefined);
    await untilBlocked(service, 'messages.receive-texts');
    const startedMs = performance.now();
    await lock.release();
    const outcome = await alone;
    const [repeat] = await shared;
    assert.ok(performance.now() - startedMs < deadlockCheckMs, 'nothing waited for a deadlock check');
    assert.equal(outcome.kind === 'received' && publicId('msg', outcome.id), repeat);
    assert.deepEqual(await textsTo(phone), [`${contact} STOP`, `${contact} START`]);
    assert.deepEqual(await textsTo(neighbour), [`${contactAt(1)} beside`]);
    assert.equal(await receivedBy(owner), 2);
  });

  it('texts beyond 16,384 characters are stored apart, and 256 of the longest that share a batch fail no other text', async () => {
    const [owner, neighbours] = [await service.newTeam(), await service.newTeam()];
    const [phone, neighbour] = [await onePhone(owner), await onePhone(neighbours)];
    const batcher = newBatcher();
    const longest = '\u6f22'.repeat(sharedTextMaxCharacters);
    const watch = watchStatements(['messages.receive-texts', 'messages.insert-received']);
    await Promise.all([
      deliver(batcher, phone, inboundOf(contactAt(300), `${longest}.`)),
      deliver(batcher, phone, inboundOf(contactAt(301), longest)),
      deliver(batcher, neighbour, inboundOf(contactAt(302), 'beside')),
    ]);
    assert.deepEqual(watch.take().toSorted(), ['messages.insert-received', 'messages.receive-texts']);
    await Promise.all([
      ...Array.from({ length: 256 }, (_, n) => deliver(batcher, phone, inboundOf(contactAt(n), longest))),
      ...Array.from({ length: 40 }, (_, n) => deliver(batcher, neighbour, inboundOf(contactAt(n), 'Hello'))),
    ]);
    assert.ok(
      watch.take().every((name) => name === 'messages.receive-texts'),
      'no batch was rolled back',
    );
    watch.stop();
    assert.equal(await receivedBy(owner), 258);
    assert.equal(await receivedBy(neighbours), 41);
    const stored = await storedMessages(service, { to: phone.number.phoneNumber });
    assert.deepEqual(
      stored.map(({ content }) => content.length).toSorted((a, b) => a - b),
      [...Array(257).fill(sharedTextMaxCharacters), sharedTextMaxCharacters + 1],
    );
  });
});
