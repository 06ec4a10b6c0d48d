import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { followLive, openLive } from '#test/support/dashboard/live-client.ts';
import { countBlocked } from '#test/support/database/blocked-statements.ts';
import { holdTableLock } from '#test/support/database/row-lock.ts';
import { join, newMember, PageClient } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { until } from '#test/support/service/until.ts';

const metricsToken = 'a-token-for-tests';

describe('access to a live stream', () => {
  const service = givenService({ RATE_LIMITS: 'on', METRICS_TOKEN: metricsToken });
  const team = givenEach(() => service.newTeam());
  const owner = givenEach(() => newMember(service, team, 'owner'));

  const figure = async (name: string) => {
    const headers = { authorization: `Bearer ${metricsToken}` };
    const text = await (await fetch(`${service.baseUrl}/metrics`, { headers })).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')
        .at(-1) ?? Number.NaN,
    );
  };

  it('a live stream requires a session and a membership of the team', async () => {
    const stranger = await newMember(service, await service.newTeam(), 'owner');
    assert.equal((await openLive(stranger, owner.in('/live'))).status, 404);
    assert.equal((await openLive(new PageClient(service.baseUrl, ''), owner.in('/live'))).status, 401);
  });

  it('a live stream ends when the member is removed, and sends nothing that changed afterwards', async () => {
    const { phoneNumber } = await connectNumber(service, team);
    const member = await newMember(service, team, 'member');
    // A second membership is needed, because a person without any team is signed out.
    await join(service, await service.newTeam(), member, 'member');
    const [live, ofOwner] = [await followLive(member), await followLive(owner)];
    const removed = await owner.delete(owner.in(`/team/members/${member.memberId}`));
    assert.equal(removed.status, 200, removed.text);
    await team.api.send({ from: phoneNumber, to: '+14155550101', content: 'After the removal' });
    assert.deepEqual(await live.next('ended'), { reason: 'no_access' });
    await live.untilOver();
    await ofOwner.next('changed', ({ resources }) => resources.includes('message'));
    assert.ok(!live.all('changed').some(({ resources }) => resources.includes('message')));
    assert.equal((await openLive(member, member.in('/live'))).status, 404);
    await ofOwner.close();
  });

  it('a live stream ends within 10 s after its session', async () => {
    const leaver = await newMember(service, team, 'member');
    const [following, ofOwner] = [await followLive(leaver), await followLive(owner)];
    assert.equal((await leaver.post('/app/account/sign-out')).status, 200);
    service.clock.advance(10_000);
    assert.deepEqual(await following.next('ended'), { reason: 'signed_out' });
    await following.untilOver();
    assert.equal(ofOwner.isOver, false);
    await ofOwner.close();
  });

  it('after a change of the role a live stream starts again with the types that the new role may read, and asks to reload', async () => {
    const viewer = await newMember(service, team, 'viewer');
    const live = await followLive(viewer);
    live.clear();
    const changed = await owner.put(owner.in(`/team/members/${viewer.memberId}/role`), { role: 'admin' });
    assert.equal(changed.status, 200, changed.text);
    assert.ok((await live.next('hello')).resources.includes('audit'));
    await live.next('reload');
    await team.api.put('/v1/team', { name: 'Renamed' });
    await live.next('changed', ({ resources }) => resources.includes('audit'));
    await live.close();
  });

  it('a live stream buffers changes while its access is checked, and loses none', async (t) => {
    const live = await followLive(owner);
    const { recordChange } = service.runtime.database.pool;
    // Changes arrive in order: after this one, all changes by the creation of the team have arrived.
    recordChange(team.id, 'webhook', []);
    await live.next('changed', ({ resources }) => resources.includes('webhook'));
    const lock = await holdTableLock(service, 'members');
    t.after(() => lock.release());
    live.clear();
    recordChange(team.id, 'member', []);
    await until('the check waits', async () => (await countBlocked(service, 'members.')) > 0);
    // Comments are sent without delay, so an event that was not delayed would arrive before the next comment.
    const { comments } = live;
    service.clock.advance(1_001);
    service.clock.advance(15_000);
    await until('a comment came', () => live.comments > comments);
    assert.deepEqual(live.events, []);
    await lock.release();
    await live.next('changed', ({ resources }) => resources.includes('member'));
    await live.close();
  });

  it('access checks of a live stream do not count as requests, so a team at its rate limit keeps its streams', async () => {
    const small = await service.newTeam({ plan: 'free' });
    const person = await newMember(service, small, 'owner');
    nextMinute(service.clock);
    const live = await followLive(person);
    const answers = await Promise.all(Array.from({ length: 300 }, () => person.get(person.in('/team'))));
    assert.ok(answers.some(({ status }) => status === 429));
    service.runtime.database.pool.recordChange(small.id, 'member', []);
    await live.next('changed', ({ resources }) => resources.includes('member'));
    assert.equal(live.isOver, false);
    await live.close();
  });

  it('an account has at most 20 live streams, and a further one gets 429 until another is closed', async () => {
    await until('those of other tests are closed', async () => (await figure('ownline_live_streams')) === 0);
    const streams = await Promise.all(Array.from({ length: 20 }, () => followLive(owner)));
    const refused = await openLive(owner, owner.in('/live'));
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '30']);
    assert.equal(await figure('ownline_live_streams'), 20);
    await streams[0]?.close();
    await until('its place is free', async () => (await figure('ownline_live_streams')) === 19);
    const again = await followLive(owner);
    for (const stream of [...streams, again]) await stream.close();
    await until('all are closed', async () => (await figure('ownline_live_streams')) === 0);
    assert.ok((await figure('ownline_live_streams_ended_total{how="left"}')) >= 21);
  });
});
