import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
import { sendRow } from '#test/support/messages/send-row.ts';
import { connectMany, type OneOfMany, sendFromEach } from '#test/support/phones/many-phones.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

/** A phone with a message in flight. */
interface Phone {
  readonly one: OneOfMany;
  readonly caller: DeviceCaller;
  readonly session: ClaimingPoll;
  readonly messageId: MessageId;
}

/** Each batch with a function that adds a row of a phone. */
const batches: Record<string, (runtime: Runtime) => (phone: Phone) => Promise<unknown>> = {
  sends: (runtime) => {
    const batcher = createSendBatcher(runtime);
    return ({ caller: { teamId, phoneNumber } }) =>
      batcher.accept(sendRow({ teamId, from: phoneNumber, to: '+12125560000', content: 'Hello' }));
  },
  claims: (runtime) => {
    const batcher = createClaimBatcher(runtime, 60_000);
    return ({ session }) => batcher.claim(session, () => false);
  },
  reports: (runtime) => {
    const batcher = createReportBatcher(runtime);
    return ({ caller, session: { sessionId }, messageId }) =>
      batcher.report(caller, { messageId, sessionId, status: 'sent', error: null });
  },
  reporting_polls: (runtime) => {
    const { lookUp } = createLookUpBatcher(runtime);
    return ({ caller, session: { sessionId } }) => lookUp({ ...caller, sessionId, isReporting: true });
  },
  idle_polls: (runtime) => {
    const { lookUp } = createLookUpBatcher(runtime);
    return ({ caller, session: { sessionId } }) => lookUp({ ...caller, sessionId, isReporting: false });
  },
};

describe('metrics of batches (specification section 10.4, decision 0039)', () => {
  const { service, team } = givenTeam({ ROLES: 'api', DEVICE_HOLD_SECONDS: '25' });

  async function threePhones(): Promise<[Phone, Phone, Phone]> {
    const phones = await connectMany(service, team, 3);
    await sendFromEach(team, phones, 'to');
    const handed = await Promise.all(
      phones.map(async (one) => {
        const claim = await one.phone.claim(service.runtime);
        assert.ok(claim.kind === 'hand_out');
        return { one, caller: one.caller, session: one.phone.session, messageId: claim.handOut.message_id };
      }),
    );
    const [first, second, third] = handed;
    assert.ok(first && second && third);
    return [first, second, third];
  }

  /** A batch with metrics of its own. */
  function startBatch(batch: string, addRow: (runtime: Runtime) => (phone: Phone) => Promise<unknown>) {
    const metrics = createMetrics();
    const add = addRow({ ...service.runtime, metrics });
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

  for (const [batch, addRow] of Object.entries(batches)) {
    it(`/metrics counts the rows of a batch of ${batch}, and those that a lock left out`, async (t) => {
      const phones = await threePhones();
      const { phoneNumber } = phones[0].caller;
      const locks = [
        await holdRowLock(service, { sessionOf: phoneNumber }),
        await holdRowLock(service, { phoneNumber }),
      ];
      const release = () => Promise.all(locks.map((lock) => lock.release()));
      t.after(release);
      const { add, figures } = startBatch(batch, addRow);
      assert.equal((await figures()).againRows, 0);
      const [waiting, ...free] = phones.map(add);
      await Promise.all(free);
      const { againRows, ...rest } = await figures();
      assert.ok(againRows && againRows >= 1, `${againRows} rows again`);
      assert.deepEqual([rest.aloneRows, rest.rollbacks], [0, 0]);
      await release();
      await waiting;
    });

    if (batch === 'sends') continue;
    it(`/metrics counts a batch of ${batch} that is rolled back, after which its rows run alone`, async () => {
      const [phone, ...others] = await threePhones();
      const numberId = 'not a UUID' as NumberId;
      const sessionId = 'not a UUID' as DeviceSessionId;
      const bad = {
        ...phone,
        caller: { ...phone.caller, numberId },
        session: { ...phone.session, numberId, sessionId },
      };
      const { add, figures } = startBatch(batch, addRow);
      const [failing, ...running] = [bad, ...others].map(add);
      failing?.catch(() => undefined);
      await Promise.all(running);
      await assert.rejects(failing ?? Promise.resolve(), { code: '22P02' });
      assert.deepEqual(await figures(), { batches: 1, rows: 3, againRows: 0, aloneRows: 3, rollbacks: 1 });
    });
  }
});
