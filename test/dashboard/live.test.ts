import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ResourceType, resourceTypes } from '#contract/change.ts';
import type { LiveChanged } from '#contract/live.ts';
import { followLive, type LiveClient, openLive } from '#test/support/dashboard/live-client.ts';
import { countBlocked } from '#test/support/database/blocked-statements.ts';
import { cutListeners } from '#test/support/database/lost-connections.ts';
import { holdTableLock } from '#test/support/database/row-lock.ts';
import { join, newMember, type TeamMember } from '#test/support/people/people.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { newWebhook } from '#test/support/webhooks/make-webhooks.ts';

const to = '+14155550101';

describe('the live stream of a team', () => {
  let team: TestTeam;
  let member: TeamMember;
  let number: ConnectedNumber;
  const service = givenService();
  const open: LiveClient[] = [];
  beforeEach(async () => {
    team = await service.newTeam();
    member = await newMember(service, team, 'member');
    number = await connectNumber(service, team);
  });
  afterEach(async () => {
    for (const client of open.splice(0)) await client.close();
  });

  async function follow(who = member): Promise<LiveClient> {
    const client = await followLive(who);
    open.push(client);
    return client;
  }

  const send = (content = 'Hello') => team.api.send({ from: number.phoneNumber, to, content });

  it('a live stream begins at once with the types that the role may read, and is neither stored nor buffered', async () => {
    const live = await follow();
    assert.match(live.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.equal(live.headers.get('cache-control'), 'no-store');
    assert.equal(live.headers.get('x-accel-buffering'), 'no');
    const [first] = live.events;
    assert.equal(first?.name, 'hello');
    const all = resourceTypes.filter((type) => type !== 'audit');
    assert.deepEqual(live.all('hello')[0]?.resources, all);
    assert.ok(live.retryMs !== undefined && live.retryMs >= 1_000 && live.retryMs < 4_000);
    const head = await member.request('HEAD', member.in('/live'));
    assert.deepEqual([head.status, head.text], [200, '']);
  });

  it('a live stream sends a comment every 15 s', async () => {
    const live = await follow();
    for (const count of [1, 2]) {
      service.clock.advance(15_000);
      await until('a comment came', () => live.comments >= count);
    }
  });

  const names =
    (type: ResourceType) =>
    ({ resources }: LiveChanged) =>
      resources.includes(type);
  /** Notifications come in the order of the commits, so after one of this type those of earlier commits have come. */
  const settle = async (live: LiveClient) => {
    service.runtime.database.pool.recordChange(team.id, 'invitation', []);
    await live.next('changed', names('invitation'));
    live.clear();
  };

  it('a live stream sends only the types of changed resources, and no type that the role may not read', async () => {
    const [ofMember, ofAdmin, ofViewer] = [
      await follow(),
      await follow(await newMember(service, team, 'admin')),
      await follow(await newMember(service, team, 'viewer')),
    ];
    await newWebhook(team.api, { events: ['message.sent'] });
    await service.newKey(team.id, ['messages:read']);
    await team.api.put('/v1/team', { name: 'Renamed' });
    const named = (live: LiveClient) => new Set(live.all('changed').flatMap(({ resources }) => resources));
    await until('the admin was told', () => named(ofAdmin).has('audit') && named(ofAdmin).has('key'));
    await until('the member was told', () => named(ofMember).has('team') && named(ofMember).has('key'));
    await until('the viewer was told', () => named(ofViewer).has('team') && named(ofViewer).has('webhook'));
    assert.ok(named(ofMember).has('webhook') && !named(ofMember).has('audit'));
    assert.ok(!named(ofViewer).has('audit') && !named(ofViewer).has('key'));
    assert.deepEqual(ofViewer.all('hello')[0]?.resources.includes('key'), false);
    for (const { name, data } of ofViewer.events)
      if (name === 'changed') assert.deepEqual(Object.keys(data), ['resources']);
  });

  it('the first change is sent at once, and changes that follow within 900 ms are sent together', async () => {
    const live = await follow();
    await settle(live);
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: 100 }, (_, n) => send(`Hello ${n}`)));
    await live.next('changed', names('message'));
    await settle(live);
    const most = (performance.now() - startedMs) / 900 + 2;
    assert.ok(live.all('changed').length <= most, `${live.all('changed').length} events, ${most} at most`);
  });

  it('a live stream asks the page to reload if changes may have been missed, and goes on', async () => {
    const live = await follow();
    await cutListeners(service);
    await live.next('reload');
    await settle(live);
    await send();
    await live.next('changed', names('message'));
  });

  it('a live stream ends at once when the service stops, without the event that forbids reopening it', async () => {
    const another = await service.startAnother();
    const away = Object.assign(Object.create(member), { baseUrl: another.baseUrl }) as TeamMember;
    const live = await openLive(away, member.in('/live'));
    await live.next('hello');
    await another.close();
    await live.untilOver();
    assert.equal(live.isCutOff, false, 'the answer has its end');
    assert.deepEqual(live.all('ended'), []);
  });
});

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

  it('a change of the role starts the live stream again with what the role may read, and a reload', async () => {
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

  it('a live stream holds changes back while its access is checked, and loses none', async (t) => {
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

  it('access checks of a live stream do not count: a team at its limit of requests keeps its streams', async () => {
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

  it('an account has at most 20 live streams: a further one is 429, until one is left', async () => {
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
