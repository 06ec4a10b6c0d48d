import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { saveBootClockReading } from '#server/database/clock-store.ts';
import { initializeClock } from '#server/database/start-clock.ts';
import { Clock, createHostClock } from '#server/platform/time/clock.ts';
import { ask, assertRefused, invite, opens } from '#test/support/people/invite.ts';
import { newPerson, PageClient } from '#test/support/people/people.ts';
import { claim, connectNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { clockOf, startSteppingService, untilStep } from '#test/support/service/stepping-service.ts';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const real = createHostClock();

describe('the time of a process that starts (specification section 10.7, decision 0020)', () => {
  // The service's processes have stopped, so that only the test writes the rows of the clock.
  const service = given(startSteppingService);

  before(() => service.app.lifecycle.close());

  interface Start {
    /** How far the clocks of the database and of the machine are ahead of the true time. */
    readonly databaseMs?: number;
    readonly hostMs?: number;
    /** The value of service_clock.held_ms that the last process left. */
    readonly heldMs?: number;
    /** Age of the last clock reading. Only a reading of the current boot has uptimeMs and monotonicMs. */
    readonly ranMs?: number;
    readonly uptimeMs?: number;
    readonly monotonicMs?: number;
  }

  const sameBoot = (agoMs: number) => ({ ranMs: agoMs, uptimeMs: agoMs, monotonicMs: agoMs });
  const [ahead, behind] = [{ databaseMs: dayMs }, { databaseMs: -dayMs }];
  /** In a container that is newer than the last run, the uptime counts from the start of the container. */
  const container = { ranMs: 9 * hourMs, uptimeMs: hourMs, monotonicMs: 9 * hourMs };

  const cases: readonly (readonly [is: string, start: Start, timeAheadMs: number, mayExpire: boolean])[] = [
    ['the first of all', {}, 0, true],
    ['the first of all, on a database whose clock is ahead', ahead, dayMs, false],
    ['the first of all, on a machine whose clock is ahead', { hostMs: dayMs }, 0, true],
    ['a restart', sameBoot(minuteMs), 0, true],
    ['a restart after a day', sameBoot(dayMs), 0, true],
    [
      'a restart, and both clocks went ahead meanwhile',
      { ...ahead, hostMs: dayMs, ...sameBoot(minuteMs) },
      0,
      false,
    ],
    ['a restart while a step is held', { ...ahead, heldMs: -dayMs, ...sameBoot(minuteMs) }, 0, false],
    ['a restart after a sleep of the machine', { ...sameBoot(9 * hourMs), monotonicMs: hourMs }, 0, true],
    ['a start in a new container', container, 0, true],
    ['a start after a boot', { ranMs: dayMs }, 0, true],
    [
      'a start after a boot, on a machine whose clock is behind',
      { ranMs: minuteMs, hostMs: -dayMs },
      0,
      true,
    ],
    ['a start after a boot, on a database whose clock is ahead', { ...ahead, ranMs: hourMs }, dayMs, false],
    [
      'a start after a boot that set the clock right during a step ahead',
      { heldMs: -dayMs, ranMs: hourMs },
      0,
      true,
    ],
    [
      'a start after a boot that set the clock right during a step back',
      { heldMs: dayMs, ranMs: hourMs },
      0,
      true,
    ],
    ['a start after a boot while a step back is held', { ...behind, heldMs: dayMs, ranMs: hourMs }, 0, true],
  ];

  for (const [is, start, timeAheadMs, mayExpire] of cases) {
    it(`at ${is} the process takes ${timeAheadMs === 0 ? 'the true time' : 'the database’s time'}, and ${mayExpire ? 'ended rows expire' : 'nothing expires'}`, async () => {
      const { databaseMs = 0, hostMs = 0, heldMs = 0, ranMs, uptimeMs, monotonicMs = 0 } = start;
      await service.step(databaseMs);
      await service.query('UPDATE service_clock SET held_ms = $1, stepped_at = $2', [
        heldMs,
        heldMs === 0 ? null : new Date(),
      ]);
      await service.query('DELETE FROM clock_readings');
      const bootId = randomUUID();
      if (ranMs !== undefined) {
        await saveBootClockReading(service.runtime.database.pool, {
          boot_id: uptimeMs === undefined ? randomUUID() : bootId,
          uptime_ms: Math.round(real.uptimeMs() - (uptimeMs ?? 0)),
          monotonic_ms: Math.round(real.monotonicMs() - monotonicMs),
          service_at: new Date(Date.now() - ranMs),
          followed_ms: 0,
        });
      }
      const clock = new Clock();
      await initializeClock(service.runtime.database.pool, clock, {
        bootId,
        uptimeMs: real.uptimeMs,
        monotonicMs: real.monotonicMs,
        wallMs: () => Date.now() + hostMs,
      });
      const aheadMs = clock.nowMs() - Date.now();
      assert.ok(Math.abs(aheadMs - timeAheadMs) < 5_000, `${aheadMs} ms ahead`);
      assert.equal(clock.mayExpire, mayExpire);
      assert.ok(clock.expiryNow().getTime() - Date.now() < 5_000, 'what is over is over by a certain time');
    });
  }
});

it('a process that starts with a doubtful clock refuses nothing as expired, and trusts the clock after 10 minutes (§10.7/clock-start)', async (t) => {
  const service = await startSteppingService();
  let closeOther = async () => {};
  // The other process first: a database with connections can't be dropped.
  t.after(() => closeOther().then(() => service.close()));
  const team = await service.newTeam({ plan: 'starter' });
  const { phoneNumber } = await connectNumber(service, team);
  const send = (api: ApiClient) =>
    api.post(
      '/v1/messages/send',
      { from: phoneNumber, to: '+14155550199', content: 'Hello' },
      { 'idempotency-key': 'once' },
    );
  const sent = await send(team.api);
  const verify = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550177' });
  const setupPath = new URL(String(verify.json.setup_url)).pathname;
  const made = await invite(service, team, 'sam@example.com');
  // These two invitations take the last seats of the plan.
  for (const name of ['kim', 'lee']) await invite(service, team, `${name}@example.com`);
  const person = await newPerson(service);
  await service.app.lifecycle.close();
  // Without readings of earlier processes, as after a boot or on another machine.
  await service.query('DELETE FROM clock_readings');
  await service.step(400 * dayMs);

  const clock = new Clock();
  const other = await service.startAnother(clock);
  closeOther = () => other.close();
  assert.deepEqual(await clockOf(other.baseUrl), { settled: false, step_seconds: 0 });
  assert.ok(clock.nowMs() - Date.now() > 399 * dayMs);
  const api = new ApiClient(other.baseUrl, team.api.key);
  const again = await send(api);
  assert.equal(field(again.json, 'id'), field(sent.json, 'id'), 'one message, and not two');
  assert.equal((await fetch(other.baseUrl + setupPath)).status, 200);
  const phone = await claim(api, String(verify.json.setup_url));
  assert.match(phone.token, /^dev_/, 'the setup link gives its token');
  assertRefused(await ask(api, 'sam@example.com'), 409, 'conflict', 'email');
  assertRefused(await ask(api, 'pat@example.com'), 402, 'plan_limit_exceeded');
  assert.equal(
    (await new PageClient(other.baseUrl, person.cookie).get('/app/account')).status,
    200,
    'signed in',
  );
  assert.ok(await opens({ ...service, baseUrl: other.baseUrl }, made), 'the invitation is open');
  clock.advance(10 * minuteMs + 1_000);
  await service.lookNow();
  await untilStep(other.baseUrl, 0);
  assert.equal((await fetch(other.baseUrl + setupPath)).status, 404, 'over by now');
});
