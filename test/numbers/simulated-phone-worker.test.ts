import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { testLine } from '#contract/test-line.ts';
import { deleteNumber } from '#server/numbers/change-number.ts';
import { createSimulatedNumber } from '#server/numbers/create-simulated-number.ts';
import { simulatedPhoneLeaseMs, simulatedPhoneSweepMs } from '#server/numbers/limits.ts';
import { insertNumber } from '#server/numbers/number-store.ts';
import {
  claimSimulatedPhones,
  connectSimulatedPhone,
  createSimulatedPhoneWorker,
  listIdleTestLines,
  releaseSimulatedPhone,
} from '#server/numbers/simulated-phone-worker.ts';
import { operator } from '#server/platform/actor.ts';
import type { NumberId } from '#server/platform/ids.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { putWaitingMessages } from '#test/support/messages/given-many-messages.ts';
import { putLease } from '#test/support/numbers/given-numbers.ts';
import { newMember } from '#test/support/people/people.ts';
import { findNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { assertEach, assertNone } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { newTestClient } from '#test/support/service/test-client.ts';
import { startTestService, type TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const one = '00000000-0000-4000-8000-000000000001';
const other = '00000000-0000-4000-8000-000000000002';

describe('the processes of simulated phones (specification section 12.13)', () => {
  // Without the process role api this service runs no simulated phones.
  const service = givenService({ ROLES: 'maintain' });

  const claim = (holder: string, limit = 100) => {
    const { clock, database } = service.runtime;
    const leasedUntil = clock.in(simulatedPhoneLeaseMs);
    return claimSimulatedPhones(database.pool, { holder, now: clock.now(), leasedUntil, limit });
  };

  async function insertRealNumber(team: TestTeam) {
    const numberId = service.runtime.ids.next('num');
    await service.runtime.database.transaction((trx) =>
      insertNumber(trx, {
        teamId: team.id,
        numberId,
        phoneNumber: '+14155550142',
        label: '',
        isSimulated: false,
        createdAt: service.clock.now(),
        pendingUntil: service.clock.in(3_600_000),
      }),
    );
    return { teamId: team.id, numberId };
  }

  const made: { readonly team: TestTeam; readonly numberId: NumberId }[] = [];

  async function simulate(team: TestTeam): Promise<NumberId> {
    const numberId = await createSimulatedNumber(service.runtime, team.id, undefined, operator);
    made.push({ team, numberId });
    return numberId;
  }

  // Each test starts without numbers of the one before.
  afterEach(async () => {
    for (const { team, numberId } of made.splice(0)) {
      await deleteNumber(service.runtime, team.id, numberId, operator);
    }
  });

  it('one process leases a simulated number, and another claims it once the lease is released, has ended, or ends too far ahead', async () => {
    const numberId = await simulate(await service.newTeam());
    const [lease, ...more] = await claim(one);
    assert.ok(lease);
    assert.deepEqual([lease.number_id, more], [numberId, []]);
    assert.deepEqual(await claim(other), []);
    await releaseSimulatedPhone(service.runtime.database.pool, lease);
    assert.equal((await claim(other)).length, 1);
    assert.deepEqual(await claim(one), []);
    service.clock.advance(simulatedPhoneLeaseMs);
    const again = await claim(one);
    assert.equal(again.length, 1);
    // If the clock was ahead and stepped back, a lease may end much later than a process could set it.
    const { clock, database } = service.runtime;
    service.clock.advance(simulatedPhoneLeaseMs);
    await claimSimulatedPhones(database.pool, {
      holder: other,
      now: clock.now(),
      leasedUntil: clock.in(3_600_000),
      limit: 1,
    });
    assert.equal((await claim(one)).length, 1);
    service.clock.advance(simulatedPhoneLeaseMs);
  });

  it('only the holder of a simulated number’s lease gets its setup link', async () => {
    const team = await service.newTeam();
    const numberId = await simulate(team);
    const [lease] = await claim(one);
    assert.ok(lease);
    assert.equal(lease.number_id, numberId);
    assert.ok(await connectSimulatedPhone(service.runtime, lease));
    assert.equal(await connectSimulatedPhone(service.runtime, { ...lease, holder: other }), undefined);
    service.clock.advance(simulatedPhoneLeaseMs);
    assert.equal(await connectSimulatedPhone(service.runtime, lease), undefined, 'its lease has ended');
  });

  it('a real number is never claimed, and gets no setup link even with a lease', async () => {
    const team = await service.newTeam();
    const real = await insertRealNumber(team);
    assert.deepEqual(await claim(one), []);
    await putLease(service, { ...real, holder: one, leasedUntil: service.clock.in(simulatedPhoneLeaseMs) });
    const lease = { number_id: real.numberId, team_id: real.teamId, holder: one };
    assert.equal(await connectSimulatedPhone(service.runtime, lease), undefined);
    await releaseSimulatedPhone(service.runtime.database.pool, lease);
  });

  it('a simulated phone that fails is started again with backoff, and a stop ends it and releases its lease', async () => {
    const numberId = await simulate(await service.newTeam());
    let runs = 0;
    const worker = createSimulatedPhoneWorker(service.runtime, async (setupToken, signal) => {
      assert.match(setupToken, /^[\w-]{20,}$/);
      runs += 1;
      if (runs === 1) throw new Error('the first one fails');
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    worker.start();
    await until('the first phone failed', () => runs === 1);
    await until('another one runs', () => {
      service.clock.advance(1_000);
      return runs >= 2;
    });
    await worker.stop();
    const claimed = await claim(other);
    assertEach(claimed, ({ number_id }) => number_id, [numberId]);
  });

  it('an idle phone of test keys is stopped if another simulated number waits for a phone', async (t) => {
    const fresh = await startTestService({ ROLES: 'maintain' });
    const runs: AbortSignal[] = [];
    const worker = createSimulatedPhoneWorker(
      fresh.runtime,
      async (_, signal) => {
        runs.push(signal);
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
      1,
    );
    t.after(() => worker.stop());
    t.after(() => fresh.close());
    const team = await fresh.newTeam();
    await newTestClient(fresh, { team });
    worker.start();
    await until('the test line has the phone', () => runs.length === 1);
    await createSimulatedNumber(fresh.runtime, team.id, undefined, operator);
    await until('the number of the dashboard has the phone', () => {
      fresh.clock.advance(simulatedPhoneSweepMs);
      return runs.length === 2;
    });
    assertEach(runs, ({ aborted }) => aborted, [true, false]);
  });

  it('the phone of test keys keeps running while it has a message or no other number waits, and is started after the others', async () => {
    const { clock, database } = service.runtime;
    const idle = async () => {
      const asked = { holder: one, now: clock.now(), idleSince: clock.now() };
      return (await listIdleTestLines(database.pool, asked)).length;
    };
    const claimOne = async (holder: string) => {
      const [lease] = await claim(holder, 1);
      assert.ok(lease);
      return lease;
    };
    await newTestClient(service, { team: await service.newTeam() });
    const line = await claimOne(one);
    assert.equal(await idle(), 0, 'no number waits');
    const simulated = await simulate(await service.newTeam());
    assert.equal(await idle(), 1);
    await releaseSimulatedPhone(database.pool, line);
    const lease = await claimOne(other);
    assert.equal(lease.number_id, simulated, 'it comes before the idle line');
    await releaseSimulatedPhone(database.pool, lease);
    const { team_id: teamId, number_id: numberId } = line;
    await putWaitingMessages(service, { teamId, numberId, phoneNumber: testLine }, 1);
    assert.equal((await claimOne(one)).number_id, numberId, 'with a message it has its turn by its team');
    assert.equal(await idle(), 0, 'it has a message');
  });

  it('a second process runs the simulated phone once the first process has stopped', async () => {
    const first = await startTestService();
    const team = await first.newTeam();
    const owner = await newMember(first, team, 'owner');
    const from = String((await owner.post(owner.in('/numbers/simulated'), {})).json.phone_number);
    await until('it is verified', async () => (await findNumber(team.api, from))?.verified === true);
    const second = await first.startAnother();
    await first.app.lifecycle.close();
    const api = new ApiClient(second.baseUrl, team.api.key);
    const id = await api.send({ from, to: '+14155550190', content: 'Hello' });
    await until('the other phone sends it', async () => {
      return (await api.get(`/v1/messages/${id}`)).json.status === 'delivered';
    });
    const entries = await storedAuditEntries(first, { teamId: team.id });
    assertNone(entries, ({ action }) => action === 'number.reconnected', 'no person reconnected it');
    await second.close();
    await first.close();
  });
});
