import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plans } from '#contract/plans.ts';
import { countText } from '#server/platform/text.ts';
import { setTeamPlan } from '#server/teams/team/team.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { join, newMember, newPerson, type TeamMember } from '#test/support/people/people.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';

const ofFree = 5 * plans.free.requestsPerMinute;

describe('the rate limiter of members (specification section 12.3)', () => {
  const service = givenService({ RATE_LIMITS: 'on' });

  /** Sends `count` simultaneous requests per member. @returns the number of requests that were answered 200 */
  const passing = async (count: number, ...members: readonly TeamMember[]) => {
    const answers = await Promise.all(
      members.flatMap((member) => Array.from({ length: count }, () => member.get(member.in('/team')))),
    );
    return answers.filter(({ status }) => status === 200).length;
  };

  it('all members of a team together have five times its keys’ limit, counted apart from the keys (§12.3/csrf-and-checks)', async () => {
    const team = await service.newTeam({ plan: 'starter' });
    const [ada, alan] = [await newMember(service, team, 'owner'), await newMember(service, team, 'viewer')];
    const other = await join(service, await service.newTeam({ plan: 'free' }), ada, 'owner');
    await setTeamPlan(service.runtime.database.pool, {
      teamId: team.id,
      plan: 'free',
      monthlyMessageLimit: 100,
    });
    nextMinute(service.clock);
    assert.equal(await passing(ofFree / 2 + 20, ada, alan), ofFree);
    const refused = await alan.get(alan.in('/team'));
    assert.deepEqual([refused.status, field(refused.json, 'error.code')], [429, 'rate_limited']);
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
    assert.equal(
      field(refused.json, 'error.message'),
      `Too many requests: the members of a team on the plan free have ${ofFree} a minute together. Retry in ${countText(seconds, 'second')}.`,
    );
    assert.equal((await team.api.get('/v1/team')).status, 200, 'its keys go on');
    assert.equal(await passing(1, other), 1, 'another team of the same person');
    await setTeamPlan(service.runtime.database.pool, {
      teamId: team.id,
      plan: 'starter',
      monthlyMessageLimit: 1_000,
    });
    assert.equal(await passing(1, ada), 1, 'a larger plan from the next request on');
    await setTeamPlan(service.runtime.database.pool, {
      teamId: team.id,
      plan: 'free',
      monthlyMessageLimit: 100,
    });
    service.clock.advance(seconds * 1_000);
    assert.equal(await passing(1, alan), 1);
  });

  it('a session beyond 600 requests a minute is refused without a look-up, so it cannot use up the pool (§12.3/csrf-and-checks)', async (t) => {
    const person = await newPerson(service);
    nextMinute(service.clock);
    const watch = watchStatements(['account-sessions.find-live']);
    t.after(() => watch.stop());
    const asked = Array.from({ length: 900 }, () => person.get('/app/account/sessions'));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 600);
    assert.equal(statuses.filter((status) => status === 429).length, 300);
    // Simultaneous look-ups of the session share a statement.
    const lookUps = watch.take().length;
    assert.ok(lookUps > 0 && lookUps <= 600, `${lookUps} look-ups`);
    const further = await Promise.all(Array.from({ length: 100 }, () => person.get('/app/account/sessions')));
    assert.ok(further.every(({ status }) => status === 429));
    assert.deepEqual(watch.take(), []);
  });

  it('requests without a membership do not count for the team (§12.3/csrf-and-checks)', async () => {
    const team = await service.newTeam({ plan: 'free' });
    const owner = await newMember(service, team, 'owner');
    const stranger = await newMember(service, await service.newTeam(), 'owner');
    nextMinute(service.clock);
    const asked = Array.from({ length: ofFree + 1 }, () => stranger.get(owner.in('/team')));
    assert.ok((await Promise.all(asked)).every(({ status }) => status === 404));
    assert.equal(await passing(1, owner), 1);
  });

  it('the members’ limit is checked before role and body, and refused requests count', async () => {
    const team = await service.newTeam({ plan: 'free' });
    const viewer = await newMember(service, team, 'viewer');
    nextMinute(service.clock);
    const wrong = Array.from({ length: ofFree }, () => viewer.put(viewer.in('/team'), { name: 'x' }));
    assert.ok((await Promise.all(wrong)).every(({ status }) => status === 403));
    assert.equal((await viewer.put(viewer.in('/team'), { nothing: 1 })).status, 429);
  });
});
