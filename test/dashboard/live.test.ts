import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ResourceType, resourceTypes } from '#contract/change.ts';
import type { LiveChanged } from '#contract/live.ts';
import { followLive, type LiveClient, openLive } from '#test/support/dashboard/live-client.ts';
import { cutListeners } from '#test/support/database/lost-connections.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { givenService } from '#test/support/service/given-team.ts';
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
