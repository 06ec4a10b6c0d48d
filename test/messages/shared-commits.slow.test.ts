import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockTimeoutMs } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { createLookUpBatcher } from '#server/device-protocol/look-up-batcher.ts';
import { createClaimBatcher } from '#server/messages/claim-batcher.ts';
import type { ClaimingPoll } from '#server/messages/claim-message.ts';
import { createReportBatcher } from '#server/messages/report-batcher.ts';
import { createSendBatcher } from '#server/messages/send-batcher.ts';
import type { DeviceCaller } from '#server/platform/http/route.ts';
import type { DeviceSessionId, MessageId, NumberId } from '#server/platform/ids/ids.ts';
import { createMetrics } from '#server/platform/process/metrics.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { untilTriedAgain } from '#test/support/database/watch-statements.ts';
import { sendRow } from '#test/support/messages/accept-all.ts';
import { connectMany, type OneOfMany, sendFromEach } from '#test/support/phones/direct-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

/** A phone; with a message in flight, except for claims. */
interface Phone {
  readonly one: OneOfMany;
  readonly caller: DeviceCaller;
  readonly session: ClaimingPoll;
  readonly messageId: MessageId;
}

/** Rows of one kind that share commits. */
interface Kind {
  readonly statement: string;
  /** The rows that others may lock. */
  readonly locks: readonly (keyof typeof locked)[];
  /** Starts a batcher. @returns a function that adds the row of a phone, and has the phone's outcome */
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
  claims: {
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
  },
  reports: {
    statement: 'messages.confirm-sent',
    locks: ['session'],
    start: (runtime) => {
      const batcher = createReportBatcher(runtime);
      return ({ caller, session: { sessionId }, messageId }) =>
        batcher.report(caller, { messageId, sessionId, status: 'sent', error: null });
    },
    outcomeOf: () => true,
  },
  reporting_polls: lookUps(true),
  idle_polls: lookUps(false),
};

describe('rows that share commits (specification section 11.4, decision 0039)', () => {
  // No sweep runs in the background, so messages change by these rows only.
  const { service, team } = givenTeam({ ROLES: 'api', DEVICE_HOLD_SECONDS: '25' });

  /** Phones with conversations: each has a message in flight, or one that `waits` to be claimed. */
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
      it(`a lock on the ${lock} of a phone delays no row of ${batch} of another phone, and /metrics counts the tries`, async (t) => {
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
    it(`a batch of ${batch} that is rolled back fails for the row that caused it only: the others run alone`, async () => {
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
});
