import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plans } from '#contract/plans.ts';
import { setTeamPlan } from '#server/teams/team/team.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { claim, connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { type ApiAnswer, canaryPhone, field } from '#test/support/service/api-client.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';
import { startTestService } from '#test/support/service/test-service.ts';

const hourMs = 3_600_000;

describe('POST /v1/numbers/verify (specification section 4.2)', () => {
  const { service, team } = givenTeamBesideCanary();

  const verify = (phone: unknown, api = team.api) => api.post('/v1/numbers/verify', { phone_number: phone });

  async function linkFor(phone: string, api = team.api): Promise<string> {
    const answer = await verify(phone, api);
    assert.equal(answer.status, 200, answer.text);
    return String(answer.json.setup_url);
  }

  function assertConflict(answer: ApiAnswer): void {
    assert.equal(answer.status, 409, answer.text);
    assert.equal(field(answer.json, 'error.code'), 'conflict');
    assert.equal(field(answer.json, 'error.param'), 'phone_number');
  }

  it('verify is answered with a message and the setup link, and the number exists at once, unverified (§4.2/verification)', async () => {
    const answer = await verify('+14155550100');
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.json).sort(), ['message', 'setup_url']);
    assert.match(String(answer.json.message), /\+14155550100/);
    const url = String(answer.json.setup_url);
    assert.ok(url.startsWith(`${service.baseUrl}/setup/`));
    // The link's token has at least 128 bits.
    assert.match(url.split('/').at(-1) ?? '', /^[\w-]{22,}$/);
    const number = await findNumber(team.api, '+14155550100');
    assert.deepEqual([number?.verified, number?.status, number?.label], [false, 'active', '']);
    const page = await fetch(url);
    assert.equal(page.status, 200);
  });

  it('a missing, non-text or non-E.164 number is refused with param phone_number (§2.1/phone-numbers)', async () => {
    for (const phone of ['', '4155550100', '+0123456789', '+1 415 555 0100', '+123456', 14155550100]) {
      const answer = await verify(phone);
      assert.equal(answer.status, 400, String(phone));
      assert.equal(field(answer.json, 'error.param'), 'phone_number');
    }
    assert.equal(field((await team.api.post('/v1/numbers/verify', {})).json, 'error.param'), 'phone_number');
  });

  it('verify of a number that is verified, here or in another team, is refused (§4.2/verification)', async () => {
    await connectNumber(service, team, '+14155550102');
    const other = await service.newTeam();
    const here = await verify('+14155550102');
    const elsewhere = await verify('+14155550102', other.api);
    assertConflict(here);
    assertConflict(elsewhere);
    // Equal answers do not reveal which team has the number.
    assert.equal(here.text, elsewhere.text);
    // The refusal may repeat the requested number of the canary team. ApiClient throws for its other data.
    await assert.rejects(verify(canaryPhone), /"code":"conflict"/);
    assert.equal(await findNumber(other.api, '+14155550102'), undefined);
  });

  it('verify of a number that is pending in the team makes a new setup link, and ends the old link and its token (§4.2/verification)', async () => {
    const first = await linkFor('+14155550103');
    const before = await findNumber(team.api, '+14155550103');
    const oldDevice = await claim(team.api, first);
    const second = await linkFor('+14155550103');
    assert.notEqual(second, first);
    assert.equal((await findNumber(team.api, '+14155550103'))?.id, before?.id);
    await assert.rejects(claim(team.api, first), /404/);
    assert.equal((await fetch(first)).status, 404);
    assert.deepEqual(await oldDevice.poll(), { action: 'stop', session: 'none', reason: 'superseded' });
    assert.equal((await findNumber(team.api, '+14155550103'))?.verified, false);
    const device = await claim(team.api, second);
    assert.equal((await device.poll()).action, 'idle');
    assert.equal((await findNumber(team.api, '+14155550103'))?.verified, true);
  });

  const lockNumberOf = (phone: string) => holdRowLock(service, { phoneNumber: phone });
  const lockLinkOf = (phone: string) => holdRowLock(service, { setupLinksOf: phone });

  it('verify after a simultaneous first poll gets a conflict, and the phone keeps its connection (§4.2/verification)', async () => {
    const phone = '+14155550106';
    const device = await claim(team.api, await linkFor(phone));
    const lock = await lockNumberOf(phone);
    const polling = device.poll();
    await lock.waiting(1);
    const verifying = verify(phone);
    await lock.waiting(2);
    await lock.release();
    assertConflict(await verifying);
    assert.equal((await polling).action, 'idle');
    assert.equal((await device.poll()).action, 'idle', 'its token still counts');
    assert.equal((await findNumber(team.api, phone))?.verified, true);
  });

  it('a verify that commits before a simultaneous first poll ends the token of the old setup link (§4.2/verification)', async () => {
    const phone = '+14155550107';
    const old = await claim(team.api, await linkFor(phone));
    const lock = await lockNumberOf(phone);
    const verifying = verify(phone);
    await lock.waiting(1);
    const polling = old.poll();
    await lock.waiting(2);
    await lock.release();
    const answer = await verifying;
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(await polling, { action: 'stop', session: 'none', reason: 'superseded' });
    assert.equal((await findNumber(team.api, phone))?.verified, false);
    const device = await claim(team.api, String(answer.json.setup_url));
    assert.equal((await device.poll()).action, 'idle');
  });

  it('after a verify and a simultaneous claim of the old setup link no old token is valid, in either order', async () => {
    const phone = '+14155550108';
    const first = await linkFor(phone);
    const lock = await lockLinkOf(phone);
    const claiming = claim(team.api, first);
    await lock.waiting(1);
    const verifying = verify(phone);
    await lock.waiting(2);
    await lock.release();
    const old = await claiming;
    const second = String((await verifying).json.setup_url);
    assert.deepEqual(await old.poll(), { action: 'stop', session: 'none', reason: 'superseded' });

    const lockAgain = await lockLinkOf(phone);
    const verifyingAgain = verify(phone);
    await lockAgain.waiting(1);
    const late = assert.rejects(claim(team.api, second), /404/);
    await lockAgain.waiting(2);
    await lockAgain.release();
    await late;
    const device = await claim(team.api, String((await verifyingAgain).json.setup_url));
    assert.equal((await device.poll()).action, 'idle');
  });

  it('a setup link works for 24 hours', async () => {
    const url = await linkFor('+14155550105');
    service.clock.advance(24 * hourMs - 60_000);
    await claim(team.api, url);
    service.clock.advance(61_000);
    await assert.rejects(claim(team.api, url), /404/);
    assert.equal((await fetch(url)).status, 404);
    await claim(team.api, await linkFor('+14155550105'));
  });

  it('pending numbers count towards the plan, so a further verify is 402 with limit and current (§4.2/pending-expiry, §8/plan-numbers)', async () => {
    for (const [plan, limit] of [
      ['free', 1],
      ['starter', 2],
      ['pro', 5],
    ] as const) {
      const other = await service.newTeam({ plan });
      for (let index = 0; index < limit; index += 1)
        await linkFor(`+1415555${plan.length}${index}00`, other.api);
      const answer = await verify('+14155559999', other.api);
      assert.equal(answer.status, 402, answer.text);
      const { message, ...error } = answer.json.error as Record<string, unknown>;
      assert.deepEqual(error, {
        code: 'plan_limit_exceeded',
        limit,
        current: limit,
        upgrade_url: `${service.baseUrl}/billing`,
      });
      assert.ok(String(message).length > 10);
      // A number that is already pending does not count twice, and a deleted number does not count.
      await linkFor(`+1415555${plan.length}000`, other.api);
      const number = await findNumber(other.api, `+1415555${plan.length}000`);
      await other.api.delete(`/v1/numbers/${number?.id}`);
      assert.equal((await verify('+14155559999', other.api)).status, 200);
    }
  });

  it('existing numbers work after a downgrade, and further ones are refused (§8/quota)', async () => {
    const other = await service.newTeam({ plan: 'pro' });
    const number = await connectNumber(service, other, '+14155550170');
    const pending = [await linkFor('+14155550171', other.api), await linkFor('+14155550172', other.api)];
    await setTeamPlan(service.runtime.database.pool, {
      teamId: other.id,
      plan: 'free',
      monthlyMessageLimit: plans.free.monthlyMessages,
    });
    const refused = await verify('+14155550173', other.api);
    const { limit, current } = refused.json.error as Record<string, unknown>;
    assert.deepEqual([refused.status, limit, current], [402, 1, 3]);
    const id = await other.api.send({ from: number.phoneNumber, to: '+14155550101', content: 'Hello' });
    assert.equal((await number.wire.poll()).id, id);
    for (const link of pending) await claim(other.api, link);
    assert.equal((await verify('+14155550171', other.api)).status, 200);
  });

  it('simultaneous verify requests do not exceed the plan’s numbers (§8/plan-numbers)', async () => {
    const other = await service.newTeam({ plan: 'pro' });
    const phones = Array.from({ length: 12 }, (_, index) => `+141555570${String(index).padStart(2, '0')}`);
    const answers = await Promise.all(phones.map((phone) => verify(phone, other.api)));
    assert.equal(answers.filter((answer) => answer.status === 200).length, 5);
    assert.equal(answers.filter((answer) => answer.status === 402).length, 7);
    const same = await Promise.all(Array.from({ length: 10 }, () => verify('+14155558000')));
    assert.ok(same.every((answer) => answer.status === 200));
    const claims = await Promise.allSettled(
      same.map((answer) => claim(team.api, String(answer.json.setup_url))),
    );
    assert.equal(claims.filter((result) => result.status === 'fulfilled').length, 1);
  });
});

it('the setup link begins with APP_URL, wherever the service listens', async (t) => {
  const service = await startTestService({ APP_URL: 'https://texts.example.com' });
  t.after(() => service.close());
  const team = await service.newTeam();
  const { json } = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
  assert.match(String(json.setup_url), /^https:\/\/texts\.example\.com\/setup\/[\w-]{43}$/);
});
