import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planNames, plans } from '#contract/plans.ts';
import { createSetupLink } from '#server/devices/setup-link.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { getRoutingTag, insertTeam, newRoutingTag } from '#server/teams/team/team.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { findTestLineDevice } from '#test/support/devices/stored-devices.ts';
import { passServedTime } from '#test/support/numbers/pass-served-time.ts';
import { claim, connectNumber, findNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given } from '#test/support/service/given.ts';
import { givenService, givenTeam } from '#test/support/service/given-team.ts';
import { newTestClient } from '#test/support/service/test-client.ts';
import { until } from '#test/support/service/until.ts';

const to = '+14155550101';

describe('GET and PUT /v1/team (specification section 4.1)', () => {
  const service = givenService();
  given(() => plantCanary(service));
  const team = given(() => service.newTeam({ plan: 'pro' }));

  it('GET shows for each plan its message limit, or the limit that was set for the team (§8/plan-messages)', async () => {
    for (const plan of planNames) {
      const { api } = await service.newTeam({ plan });
      const { json } = await api.get('/v1/team');
      assert.deepEqual([json.plan, json.monthly_message_limit], [plan, plans[plan].monthlyMessages]);
    }
    const { api } = await service.newTeam({ plan: 'free', monthlyLimit: 7 });
    assert.equal((await api.get('/v1/team')).json.monthly_message_limit, 7);
  });

  it('PUT changes the name and nothing else, and answers with the whole team', async () => {
    const before = await team.api.get('/v1/team');
    const answer = await team.api.put('/v1/team', { name: 'Büro Süd' });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json, { ...before.json, name: 'Büro Süd' });
    assert.equal((await team.api.get('/v1/team')).text, answer.text);
  });

  it('PUT accepts names of 1 to 100 code points unchanged, and refuses others', async () => {
    for (const name of ['', '😀'.repeat(101), `${'e\u0301'.repeat(50)}a`]) {
      const answer = await team.api.put('/v1/team', { name });
      assert.deepEqual([answer.status, field(answer.json, 'error.param')], [400, 'name']);
    }
    for (const name of [
      'a',
      ' ',
      'a'.repeat(100),
      '😀'.repeat(100),
      'e\u0301'.repeat(50),
      'null',
      '\ufeffa',
    ]) {
      const answer = await team.api.put('/v1/team', { name });
      assert.deepEqual([answer.status, answer.json.name], [200, name], answer.text);
      assert.equal((await team.api.get('/v1/team')).json.name, name);
    }
  });

  it('PUT with {}, an empty body or no body changes nothing and answers with the team (§4.1/no-ops-and-seats)', async () => {
    await team.api.put('/v1/team', { name: 'Stays' });
    const before = await team.api.get('/v1/team');
    for (const answer of [
      await team.api.put('/v1/team', {}),
      await team.api.request('PUT', '/v1/team', { rawBody: '' }),
      await team.api.request('PUT', '/v1/team'),
    ]) {
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.text, before.text);
    }
  });

  it('the audit log has the actor of a new name, and no entry if the name is unchanged', async () => {
    await team.api.put('/v1/team', { name: 'Noted' });
    for (const body of [{}, { name: 'Noted' }, { name: '' }]) await team.api.put('/v1/team', body);
    const noted = (await storedAuditEntries(service, { teamId: team.id })).filter(
      ({ action, details, outcome }) =>
        action === 'team.renamed' && field(details, 'name') === 'Noted' && outcome === 'done',
    );
    assertEach(noted, ({ actorKind, actorName, details }) => [actorKind, actorName, details], [
      ['key', 'test', { name: 'Noted' }],
    ]);
  });
});

describe('waiting_reason (§4.3/waiting-reason)', () => {
  const { service, team } = givenTeam();

  const reason = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json.waiting_reason;

  it('waiting_reason becomes phone_offline once the last poll is more than 5 minutes ago, and not earlier (§2.5/last-seen-at)', async () => {
    const number = await connectNumber(service, team, '+14155550170');
    const id = await team.api.send({ from: number.phoneNumber, to, content: 'Hello' });
    const seen = Date.parse(String((await findNumber(team.api, number.phoneNumber))?.last_seen_at));
    await passServedTime(service, seen + 5 * 60_000 - 2_000 - service.clock.nowMs());
    assert.equal(await reason(id), null);
    await passServedTime(service, 3_000);
    assert.equal(await reason(id), 'phone_offline');
    assert.equal((await number.wire.poll()).id, id);
    assert.equal(await reason(id), null);
  });

  it('waiting_reason depends only on messages of the same number', async () => {
    const one = await connectNumber(service, team, '+14155550190');
    const other = await connectNumber(service, team, '+14155550191');
    await team.api.send({ from: one.phoneNumber, to, content: 'earlier, elsewhere' });
    const id = await team.api.send({ from: other.phoneNumber, to, content: 'Hello' });
    assert.equal(await reason(id), null);
    await one.wire.poll();
    assert.equal(await reason(id), null);
  });
});

describe('the routing tag of a team (§5.5/routing-tag)', () => {
  const { service, team } = givenTeam();

  /** Inserts a team with the first of these tags that is free. */
  const teamOf = async (...tags: readonly string[]): Promise<TeamId> => {
    const { runtime, clock } = service;
    const id = runtime.ids.next('team');
    const row = { id, name: 'Example team', plan: 'pro', test_of: null, created_at: clock.now() } as const;
    const left = [...tags];
    await runtime.database.transaction((trx) =>
      insertTeam(
        trx,
        { ...row, monthly_message_limit: plans.pro.monthlyMessages },
        () => left.shift() ?? assert.fail('no other tag was asked for'),
      ),
    );
    return id;
  };
  const tagOf = (id: TeamId) => getRoutingTag(service.runtime.database.pool, id);

  it('a tag is 4 characters of a-z and 0-9, one of them a digit, so that it spells no word', () => {
    for (const tag of Array.from({ length: 500 }, newRoutingTag))
      assert.match(tag, /^(?=.*[0-9])[a-z0-9]{4}$/);
  });

  it('each team has a tag of its own, and a tag that is taken is replaced in the same transaction', async () => {
    const taken = await tagOf(team.id);
    const other = await teamOf(taken, taken, 'zz9z');
    assert.equal(await tagOf(other), 'zz9z');
  });

  it('live keys and test keys of a team have its tag behind the prefix (§5.5/routing-tag-in-credentials)', async () => {
    const tag = await tagOf(team.id);
    const { api } = await newTestClient(service, { team });
    assert.equal(team.api.key.slice(0, 13), `own_live_${tag}`);
    assert.equal(api.key.slice(0, 13), `own_test_${tag}`);
  });

  it('device tokens of a team and of its test team have its tag behind the prefix (§5.5/routing-tag-in-credentials)', async () => {
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: newPhoneNumber() });
    const form = new RegExp(`^dev_${await tagOf(team.id)}[\\w-]{43}$`);
    assert.match((await claim(team.api, String(verify.json.setup_url))).token, form);
    await newTestClient(service, { team });
    const findTestLine = () => findTestLineDevice(service, team.id);
    await until('the phone of the test line is connected', async () => (await findTestLine()) !== undefined);
    const line = (await findTestLine()) ?? assert.fail();
    const { runtime } = service;
    const setupUrl = await runtime.database.transaction((trx) =>
      createSetupLink(trx, runtime, { teamId: line.team_id, numberId: line.number_id }),
    );
    assert.match((await claim(team.api, setupUrl)).token, form);
  });

  it('a team is refused after 20 tags that are taken', async () => {
    const taken = await tagOf(team.id);
    await assert.rejects(teamOf(...Array.from({ length: 20 }, () => taken)), /20 routing tags/);
  });
});
