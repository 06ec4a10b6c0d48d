import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failExpired, resolveOverdue } from '#server/messages/sweep-messages.ts';
import { setTeamPlan } from '#server/teams/team/team.ts';
import { storedMessages } from '#test/support/messages/stored-messages.ts';
import { connectNumber, type DeviceWire } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, ApiClient, field } from '#test/support/service/api-client.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { setAccepted } from '#test/support/usage/given-usage.ts';
import { acceptedByMonth } from '#test/support/usage/stored-usage.ts';

const to = '+14155550101';
const hourMs = 3_600_000;

describe('the monthly message limit (specification sections 7.2 and 8)', () => {
  const service = givenService({ QUEUE_EXPIRY_HOURS: '2' });
  given(() => plantCanary(service));
  let phones = 200;

  async function newSender(
    monthlyLimit: number,
  ): Promise<TestTeam & { readonly from: string; wire: DeviceWire; numberId: string }> {
    const team = await service.newTeam({ monthlyLimit });
    phones += 1;
    const from = `+1415555${String(phones).padStart(4, '0')}`;
    const { wire, numberId } = await connectNumber(service, team, from);
    return { ...team, from, wire, numberId };
  }

  const send = (team: { from: string; api: ApiClient }, content = 'Hello', api = team.api) =>
    api.post('/v1/messages/send', { to, from: team.from, content });

  const usage = (team: TestTeam) => acceptedByMonth(service, team.id);
  const setLimit = (team: TestTeam, monthlyLimit: number) =>
    setTeamPlan(service.runtime.database.pool, {
      teamId: team.id,
      plan: 'enterprise',
      monthlyMessageLimit: monthlyLimit,
    });

  /** Runs the sweep until it finds nothing. */
  async function expireAll(): Promise<void> {
    while ((await failExpired(service.runtime)) > 0);
  }

  const monthAhead = (months: number) => {
    const now = service.clock.now();
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1));
  };

  function assertOver(answer: ApiAnswer, limit: number, current = limit): void {
    assert.equal(answer.status, 402, answer.text);
    const { message, ...error } = answer.json.error as Record<string, unknown>;
    const resetsAt = monthAhead(1).toISOString();
    assert.deepEqual(error, {
      code: 'plan_limit_exceeded',
      limit,
      current,
      upgrade_url: `${service.baseUrl}/billing`,
      resets_at: resetsAt,
    });
    assert.ok(String(message).includes(String(limit)));
    assert.match(String(message), new RegExp(`, or see ${service.baseUrl}/billing for a larger plan\\.$`));
    // If the limit is 0, waiting does not help, so the error text names no time.
    assert.equal(String(message).includes(resetsAt), limit > 0);
  }

  it('a send beyond the limit is refused with limit, current, upgrade_url and resets_at', async () => {
    const team = await newSender(2);
    assert.equal((await send(team)).status, 202);
    assert.equal((await send(team)).status, 202);
    assertOver(await send(team), 2);
    const none = await newSender(0);
    assertOver(await send(none), 0);
  });

  it('exactly 50 of 200 simultaneous sends over two processes are accepted (§8/quota)', async (t) => {
    const second = await service.startAnother();
    t.after(() => second.close());
    const team = await newSender(50);
    const elsewhere = new ApiClient(second.baseUrl, team.api.key);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => send(team, 'Hello', index % 2 === 0 ? team.api : elsewhere)),
    );
    assert.equal(answers.filter((answer) => answer.status === 202).length, 50);
    assert.equal(answers.filter((answer) => answer.status === 402).length, 150);
    assert.equal((await storedMessages(service, { teamId: team.id })).length, 50);
    assert.deepEqual(Object.values(await usage(team)), [50]);
  });

  it('a limit below the number of messages already sent in the month only refuses further ones (§8/quota)', async () => {
    const team = await newSender(5);
    for (let sent = 0; sent < 3; sent += 1) await send(team);
    await setLimit(team, 1);
    assertOver(await send(team), 1, 3);
    await setLimit(team, 4);
    assert.equal((await send(team)).status, 202);
    assertOver(await send(team), 4);
  });

  it('inbound messages do not count towards the monthly limit (§8/quota)', async () => {
    const team = await newSender(2);
    assert.equal((await send(team)).status, 202);
    for (let text = 0; text < 3; text += 1) {
      await team.wire.call('inbound', { from: to, text: `inbound ${text}` });
    }
    assert.equal((await send(team)).status, 202);
    assertOver(await send(team), 2);
  });

  it('exactly the messages that fail without a hand-out are refunded (§3.2/refund)', async () => {
    const team = await newSender(2);
    const first = await send(team);
    const second = await send(team);
    const poll = await team.wire.poll();
    assert.equal(poll.id, first.json.id);
    service.clock.advance(2 * hourMs + 1_000);
    await expireAll();
    await resolveOverdue(service.runtime);
    for (const [id, code] of [
      [first.json.id, 'device_timeout'],
      [second.json.id, 'expired'],
    ]) {
      assert.equal(field((await team.api.get(`/v1/messages/${id}`)).json, 'error_code'), code);
    }
    assert.deepEqual(Object.values(await usage(team)), [1]);
    assert.equal((await send(team)).status, 202);
    assertOver(await send(team), 2);
  });

  it('the count restarts with each month in UTC, and a refund goes to the month of its message (§3.2/refund, §8/quota)', async () => {
    const team = await newSender(2);
    // One hour before the month ends.
    service.clock.advance(monthAhead(1).getTime() - hourMs - service.clock.nowMs());
    const oldMonth = service.clock.now().toISOString().slice(0, 7);
    assert.equal((await send(team)).status, 202);
    const late = await send(team);
    assertOver(await send(team), 2);
    service.clock.advance(hourMs);
    const newMonth = service.clock.now().toISOString().slice(0, 7);
    assert.notEqual(newMonth, oldMonth);
    const firstOfMonth = await send(team);
    assert.equal(firstOfMonth.status, 202);
    assert.deepEqual(await usage(team), { [oldMonth]: 2, [newMonth]: 1 });
    // The last message of the old month expires two hours after it was accepted.
    service.clock.advance(hourMs + 1_000);
    await expireAll();
    assert.equal(field((await team.api.get(`/v1/messages/${late.json.id}`)).json, 'error_code'), 'expired');
    assert.deepEqual(await usage(team), { [oldMonth]: 0, [newMonth]: 1 });
    assert.equal((await send(team)).status, 202);
    assertOver(await send(team), 2);
    assert.equal(
      field((await team.api.get(`/v1/messages/${firstOfMonth.json.id}`)).json, 'status'),
      'queued',
    );
  });

  it('a failing transaction of one team does not prevent the expiry of other teams’ messages', async () => {
    const [broken, other] = [await newSender(10), await newSender(10)];
    const ids: string[] = [];
    for (const team of [broken, other]) ids.push(String((await send(team)).json.id));
    // The refund would make this count negative, which a constraint refuses, so the team's transaction fails.
    await setAccepted(service, broken.id, 0);
    service.clock.advance(25 * 3_600_000);
    await expireAll();
    assert.equal((await broken.api.get(`/v1/messages/${ids[0]}`)).json.status, 'queued');
    assert.equal((await other.api.get(`/v1/messages/${ids[1]}`)).json.status, 'failed');
    await setAccepted(service, broken.id, 1);
    await expireAll();
    assert.equal((await broken.api.get(`/v1/messages/${ids[0]}`)).json.status, 'failed');
  });
});
