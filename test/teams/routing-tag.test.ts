import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plans } from '#contract/plans.ts';
import { createSetupLink } from '#server/devices/setup-link.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { getRoutingTag, insertTeam, newRoutingTag } from '#server/teams/team/team.ts';
import { findTestLineDevice } from '#test/support/devices/stored-devices.ts';
import { claim, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { newTestClient } from '#test/support/service/test-client.ts';
import { until } from '#test/support/service/until.ts';

describe('the routing tag of a team (§5.5/routing-tag)', () => {
  const { service, team } = givenTeam();

  /** Inserts a team with the first of these tags that is not taken. */
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

  it('a routing tag is 4 characters of a-z and 0-9, one of them a digit, so that it spells no word', () => {
    for (const tag of Array.from({ length: 500 }, newRoutingTag))
      assert.match(tag, /^(?=.*[0-9])[a-z0-9]{4}$/);
  });

  it('each team has its own routing tag, and a tag that is taken is replaced in the same transaction', async () => {
    const taken = await tagOf(team.id);
    const other = await teamOf(taken, taken, 'zz9z');
    assert.equal(await tagOf(other), 'zz9z');
  });

  it('live keys and test keys of a team contain its routing tag after the prefix (§5.5/routing-tag-in-credentials)', async () => {
    const tag = await tagOf(team.id);
    const { api } = await newTestClient(service, { team });
    assert.equal(team.api.key.slice(0, 13), `own_live_${tag}`);
    assert.equal(api.key.slice(0, 13), `own_test_${tag}`);
  });

  it('device tokens of a team and of its test team contain its routing tag after the prefix (§5.5/routing-tag-in-credentials)', async () => {
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

  it('creating a team fails after 20 routing tags that are taken', async () => {
    const taken = await tagOf(team.id);
    await assert.rejects(teamOf(...Array.from({ length: 20 }, () => taken)), /20 routing tags/);
  });
});
