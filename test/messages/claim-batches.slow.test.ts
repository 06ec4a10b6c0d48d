import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Runtime } from '#server/database/runtime.ts';
import { type ClaimBatcher, createClaimBatcher } from '#server/messages/claim-batcher.ts';
import type { Claim } from '#server/messages/claim-message.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { untilTriedAgain } from '#test/support/database/watch-statements.ts';
import { holdMessageChange } from '#test/support/messages/given-messages.ts';
import { messagesInFlight, storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectMany, type OneOfMany, sendFromEach } from '#test/support/phones/direct-phone.ts';
import { givenRuntime } from '#test/support/service/given-runtime.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const lifeMs = 60_000;

/** No poll of these claims ends before. */
const isHeld = () => false;

const messageOf = (claim: Claim) =>
  claim.kind === 'hand_out' ? publicId('msg', claim.handOut.message_id) : claim.kind;

describe('hand-outs that share commits (specification section 11.4)', () => {
  // No sweep runs in the background, so messages change by claims only.
  const { service, team } = givenTeam({ ROLES: 'api', DEVICE_HOLD_SECONDS: '25' });
  const other = givenRuntime(service);

  const newBatcher = (runtime: Runtime = service.runtime) => createClaimBatcher(runtime, lifeMs);
  const claimAll = (batcher: ClaimBatcher, phones: readonly OneOfMany[]) =>
    phones.map(async ({ phone }) => messageOf(await batcher.claim(phone.session, isHeld)));

  /** Phones that have each sent a message before, so that their conversations exist, and for each another message. */
  async function phonesWithMessages(count: number) {
    const phones = await connectMany(service, team, count);
    await sendFromEach(team, phones, 'earlier');
    await Promise.all(phones.map(({ phone }) => phone.send(service.runtime)));
    return { phones, ids: await sendFromEach(team, phones, 'to') };
  }

  it('a claim that waits while its poll ends takes nothing (§3.2/handed-out-once)', async (t) => {
    const { phones, ids } = await phonesWithMessages(2);
    const [first, second] = phones;
    assert.ok(first && second);
    const lock = await holdRowLock(service, {
      phoneNumber: phones.map(({ number }) => number.phoneNumber),
    });
    t.after(() => lock.release());
    const batcher = newBatcher();
    let hasEnded = false;
    const [held] = claimAll(batcher, [first]);
    const ended = batcher.claim(second.phone.session, () => hasEnded);
    await untilTriedAgain('messages.claim');
    hasEnded = true;
    await untilTriedAgain('messages.claim');
    await lock.release();
    assert.equal(await held, ids[0]);
    assert.equal(messageOf(await ended), 'nothing');
    assert.equal((await storedMessages(service, { to: second.contact })).at(-1)?.handOutCount, 0);
    assert.equal(await claimAll(batcher, [second])[0], ids[1]);
  });

  it('a message that is cancelled between the snapshot and the lock of a claim is not handed out: the next one is (§4.3/cancel)', async (t) => {
    const { phones, ids } = await phonesWithMessages(4);
    const [cancelled] = phones;
    assert.ok(cancelled);
    const lock = await holdRowLock(service, { messagesTo: cancelled.contact });
    t.after(() => lock.release());
    const [next] = await sendFromEach(team, [cancelled], 'next');
    // The cancellation has removed the queue entry, and waits for the lock of the message.
    const cancelling = team.api.post(`/v1/messages/${ids[0]}/cancel`);
    await lock.waiting(1);
    const [waiting, ...free] = claimAll(newBatcher(), phones);
    assert.deepEqual(await Promise.all(free), ids.slice(1));
    await untilTriedAgain('messages.claim');
    await lock.release();
    assert.equal((await cancelling).status, 200);
    assert.equal(await waiting, next);
    const [message] = await storedMessages(service, { content: `to ${cancelled.contact}` });
    assert.deepEqual([message?.status, message?.handOutCount], ['failed', 0]);
  });

  it('a message that an erasure writes during a claim goes once that is committed, and the others before (§3.2/handed-out-once)', async (t) => {
    const { phones, ids } = await phonesWithMessages(4);
    const [changed] = phones;
    assert.ok(changed);
    const change = await holdMessageChange(service, changed.contact);
    t.after(() => change.release());
    const claims = Promise.all(claimAll(newBatcher(), phones));
    await change.waiting(1);
    await change.release();
    assert.deepEqual(await claims, ids);
  });

  it('two processes that claim for the same polls hand out each message once (§3.2/handed-out-once)', async () => {
    const phones = await connectMany(service, team, 30);
    const batchers = [newBatcher(), newBatcher(other)];
    for (let round = 0; round < 5; round += 1) {
      const ids = await sendFromEach(team, phones, `round ${round}`);
      const claims = await Promise.all(batchers.flatMap((batcher) => claimAll(batcher, phones)));
      assert.deepEqual(claims.filter((claim) => claim !== 'nothing').toSorted(), ids.toSorted());
      const inFlight = await messagesInFlight(service);
      await Promise.all(
        phones.map(({ phone }) => {
          const flight = inFlight.find(({ numberId }) => numberId === phone.session.numberId);
          assert.ok(flight);
          return phone.report(service.runtime, { message_id: flight.messageId });
        }),
      );
    }
  });
});
