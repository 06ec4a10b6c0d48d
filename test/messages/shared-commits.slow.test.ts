import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockTimeoutMs } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { createLookUpBatcher } from '#server/device-protocol/look-up-polls.ts';
import type { DeviceCaller } from '#server/http/route.ts';
import { type ClaimingPoll, createClaimBatcher } from '#server/messages/claim-message.ts';
import { createReportBatcher } from '#server/messages/report-message.ts';
import { createSendBatcher } from '#server/messages/send-message.ts';
import { type DeviceSessionId, type MessageId, type NumberId, publicId } from '#server/platform/ids.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { untilTriedAgain } from '#test/support/database/watch-statements.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { sendRow } from '#test/support/messages/accept-all.ts';
import { holdMessageChange } from '#test/support/messages/given-messages.ts';
import { connectMany, type OneOfMany, sendFromEach } from '#test/support/phones/direct-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenRuntime } from '#test/support/service/given-runtime.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

/** A phone with a message in flight; for claims, with a waiting message. */
interface Phone {
  readonly one: OneOfMany;
  readonly caller: DeviceCaller;
  readonly session: ClaimingPoll;
  readonly messageId: MessageId;
}

/** Rows of one kind that share commits. */
interface Kind {
  readonly statement: string;
  /** The rows that other transactions may lock. */
  readonly locks: readonly (keyof typeof locked)[];
  /** Starts a batcher. @returns a function that adds the row of a phone, and resolves to the phone's outcome */
  readonly start: (runtime: Runtime) => (phone: Phone) => Promise<unknown>;
  readonly outcomeOf: (phone: Phone) => unknown;
}

const locked = {
  number: ({ number }: OneOfMany) => ({ phoneNumber: number.phoneNumber }),
  session: ({ number }: OneOfMany) => ({ sessionOf: number.phoneNumber }),
  'queue entry': ({ contact }: OneOfMany) => ({ queuedTo: contact }),
  conversation: ({ contact }: OneOfMany) => ({ conversationWith: contact }),
};

function lookUps(isReporting: boolean): Kind {
  return {
    statement: 'device-protocol.look-up-polls',
    locks: ['session'],
    start: (runtime) => {
      const { lookUp } = createLookUpBatcher(runtime);
      return async ({ caller, session: { sessionId } }) =>
        (await lookUp({ ...caller, sessionId, isReporting })).row !== undefined;
    },
    outcomeOf: () => true,
  };
}

const claims: Kind = {
  statement: 'messages.claim',
  locks: ['number', 'session', 'queue entry', 'conversation'],
  start: (runtime) => {
    const batcher = createClaimBatcher(runtime, 60_000);
    return async ({ session }) => {
      const claim = await batcher.claim(session, () => false);
      return claim.kind === 'hand_out' ? claim.handOut.message_id : claim.kind;
    };
  },
  outcomeOf: ({ messageId }) => messageId,
};

const reports: Kind = {
  statement: 'messages.confirm-sent',
  locks: ['session'],
  start: (runtime) => {
    const batcher = createReportBatcher(runtime);
    return ({ caller, session: { sessionId }, messageId }) =>
      batcher.report(caller, { messageId, sessionId, status: 'sent', error: null });
  },
  outcomeOf: () => true,
};

const kinds: Readonly<Record<string, Kind>> = {
  sends: {
    statement: 'messages.accept-sends',
    locks: ['number'],
    start: (runtime) => {
      const batcher = createSendBatcher(runtime);
      return async ({ caller: { teamId, phoneNumber } }) =>
        (await batcher.accept(sendRow({ teamId, from: phoneNumber, to: '+12125560000', content: 'Hello' })))
          .verdict;
    },
    outcomeOf: () => 'accepted',
  },
  claims,
  reports,
  reporting_polls: lookUps(true),
  idle_polls: lookUps(false),
};

describe('rows that share commits (specification section 11.4, decision 0039)', () => {
  // No sweep runs in the background, so messages change by these rows only.
  const { service, team } = givenTeam({ ROLES: 'api', DEVICE_HOLD_SECONDS: '25' });
  const other = givenRuntime(service);

  /** Makes phones with conversations: each has a message in flight, or a message that `waits` to be claimed. */
  async function threePhones(waits: boolean): Promise<[Phone, ...Phone[]]> {
    const phones = await connectMany(service, team, 3);
    await sendFromEach(team, phones, 'earlier');
    await Promise.all(phones.map(({ phone }) => phone.send(service.runtime)));
    const ids = await sendFromEach(team, phones, 'to');
    if (!waits) await Promise.all(phones.map(({ phone }) => phone.claim(service.runtime)));
    const [first, ...others] = phones.map((one, index) => {
      const { caller, phone } = one;
      return { one, caller, session: phone.session, messageId: uuidOf('msg', ids[index] ?? '') };
    });
    assert.ok(first);
    return [first, ...others];
  }

  /** A batcher with metrics of its own. */
  function startBatcher(batch: string, { start }: Kind) {
    const metrics = createMetrics();
    const add = start({ ...service.runtime, metrics });
    const figures = async () => {
      const lines = (await metrics.metrics()).split('\n');
      const figure = (name: string) => {
        const series = `ownline_batch_${name}{batch="${batch}"} `;
        const line = lines.find((candidate) => candidate.startsWith(series));
        return line === undefined ? undefined : Number(line.slice(series.length));
      };
      return {
        batches: figure('size_count'),
        rows: figure('size_sum'),
        againRows: figure('again_rows_total'),
        aloneRows: figure('alone_rows_total'),
        rollbacks: figure('rollbacks_total'),
      };
    };
    return { add, figures };
  }

  for (const [batch, kind] of Object.entries(kinds)) {
    const waits = batch === 'claims';
    for (const lock of kind.locks) {
      it(`a lock on the ${lock} of a phone delays no ${batch} of another phone, and /metrics counts the tries`, async (t) => {
        const [phone, ...others] = await threePhones(waits);
        const held = await holdRowLock(service, locked[lock](phone.one));
        t.after(() => held.release());
        const { add, figures } = startBatcher(batch, kind);
        assert.equal((await figures()).againRows, 0);
        const startedMs = performance.now();
        let isAnswered = false;
        const waiting = add(phone).finally(() => {
          isAnswered = true;
        });
        assert.deepEqual(await Promise.all(others.map(add)), others.map(kind.outcomeOf));
        assert.ok(performance.now() - startedMs < lockTimeoutMs, 'the others waited for no time-out');
        await untilTriedAgain(kind.statement);
        const { againRows, aloneRows, rollbacks } = await figures();
        assert.ok(againRows && againRows >= 1, `${againRows} rows again`);
        assert.deepEqual([aloneRows, rollbacks, isAnswered], [0, 0, false]);
        await held.release();
        assert.deepEqual(await waiting, kind.outcomeOf(phone));
      });
    }

    // A send has no value that PostgreSQL refuses.
    if (batch === 'sends') continue;
    it(`a batch of ${batch} that is rolled back fails only for the row that caused it, because the other rows run again alone`, async () => {
      const [phone, ...others] = await threePhones(waits);
      const numberId = 'not a UUID' as NumberId;
      const sessionId = 'not a UUID' as DeviceSessionId;
      const bad = {
        ...phone,
        caller: { ...phone.caller, numberId },
        session: { ...phone.session, numberId, sessionId },
      };
      const { add, figures } = startBatcher(batch, kind);
      const failing = add(bad);
      failing.catch(() => undefined);
      assert.deepEqual(await Promise.all(others.map(add)), others.map(kind.outcomeOf));
      await assert.rejects(failing, { code: '22P02' });
      assert.deepEqual(await figures(), { batches: 1, rows: 3, againRows: 0, aloneRows: 3, rollbacks: 1 });
    });
  }

  it('equal reports to two processes count once, and a change of the number delays none of them (§3.2/repeated-reports)', async (t) => {
    const phones = await threePhones(false);
    const phoneNumber = phones.map(({ one }) => one.number.phoneNumber);
    const change = await holdRowLock(service, { phoneNumber }, 'no key update');
    t.after(() => change.release());
    const processes = [service.runtime, other].map(reports.start);
    const confirmed = processes.flatMap((report) => [...phones, ...phones].map(report));
    assert.deepEqual(new Set(await Promise.all(confirmed)), new Set([true]));
    for (const { messageId } of phones) {
      const events = await storedEvents(service, { messageId });
      assertEach(events, ({ type }) => type, ['message.sent']);
    }
  });

  it('a claim that waits for a lock while its poll ends takes no message (§3.2/handed-out-once)', async (t) => {
    const [phone, second] = await threePhones(true);
    assert.ok(second);
    const phoneNumber = [phone, second].map(({ one }) => one.number.phoneNumber);
    const lock = await holdRowLock(service, { phoneNumber });
    t.after(() => lock.release());
    const batcher = createClaimBatcher(service.runtime, 60_000);
    let hasEnded = false;
    const held = batcher.claim(phone.session, () => false);
    const ended = batcher.claim(second.session, () => hasEnded);
    await untilTriedAgain('messages.claim');
    hasEnded = true;
    await untilTriedAgain('messages.claim');
    await lock.release();
    assert.deepEqual([(await held).kind, (await ended).kind], ['hand_out', 'nothing']);
    assert.equal(await claims.start(service.runtime)(second), second.messageId, 'it still waits');
  });

  it('a message that is cancelled between a claim’s snapshot and its lock is not handed out, and the next message is', async (t) => {
    const [phone, ...others] = await threePhones(true);
    const lock = await holdRowLock(service, { messagesTo: phone.one.contact });
    t.after(() => lock.release());
    const [next = ''] = await sendFromEach(team, [phone.one], 'next');
    // The cancellation has removed the queue entry, and waits for the lock of the message.
    const cancelling = team.api.post(`/v1/messages/${publicId('msg', phone.messageId)}/cancel`);
    await lock.waiting(1);
    const claim = claims.start(service.runtime);
    const waiting = claim(phone);
    assert.deepEqual(await Promise.all(others.map(claim)), others.map(claims.outcomeOf));
    await untilTriedAgain('messages.claim');
    await lock.release();
    assert.equal((await cancelling).status, 200);
    assert.equal(await waiting, uuidOf('msg', next));
  });

  it('a message that another transaction changes during a claim is handed out once that transaction has committed (§3.2/handed-out-once)', async (t) => {
    const phones = await threePhones(true);
    const change = await holdMessageChange(service, phones[0].one.contact);
    t.after(() => change.release());
    const claiming = Promise.all(phones.map(claims.start(service.runtime)));
    await change.waiting(1);
    await change.release();
    assert.deepEqual(await claiming, phones.map(claims.outcomeOf));
  });

  it('two processes that claim messages for the same polls hand out each message once (§3.2/handed-out-once)', async () => {
    for (let round = 0; round < 5; round += 1) {
      const phones = await threePhones(true);
      const processes = [claims.start(service.runtime), claims.start(other)];
      const taken = await Promise.all(processes.flatMap((claim) => phones.map(claim)));
      assert.deepEqual(
        taken.filter((outcome) => outcome !== 'nothing').toSorted(),
        phones.map(({ messageId }) => messageId).toSorted(),
      );
    }
  });
});
