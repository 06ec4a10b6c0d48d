import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, beforeEach, describe, it } from 'node:test';
import type { ResourceType } from '#contract/change.ts';
import { type ChangeListener, Changes } from '#server/dashboard/changes.ts';
import { idsMax } from '#server/database/change.ts';
import { changesChannel, phoneQueueChannel } from '#server/database/channels.ts';
import { Database } from '#server/database/database.ts';
import { deleteOverduePending } from '#server/numbers/number-store.ts';
import { publicId, type TeamId } from '#server/platform/ids.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { insertTeam, setTeamName } from '#server/teams/team/team.ts';
import { createLastTriggered } from '#server/webhooks/dispatch/record-results.ts';
import { sweepDeliveries } from '#server/webhooks/queue/pending-deliveries.ts';
import { hearNotifications } from '#test/support/database/hear-notifications.ts';
import { hearChanges } from '#test/support/database/listen-for-changes.ts';
import { cutListeners } from '#test/support/database/lost-connections.ts';
import { failStatement } from '#test/support/database/table-faults.ts';
import { connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { startFreezingProxy } from '#test/support/proxies/freezing-proxy.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given, givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { newDelivery, newWebhook, putWebhook, uuidOf } from '#test/support/webhooks/make-webhooks.ts';

type Told = Parameters<ChangeListener>[0];

const [from, to] = ['+14155550100', '+14155550101'];
const logger = createLogger('silent');

describe('notifications of changes (decision 0018)', () => {
  const service = givenService();
  const heard = given(
    () => hearChanges(service),
    (heard) => heard.stop(),
  );
  const team = givenEach(() => service.newTeam());
  beforeEach(() => heard.take());

  const ofTeam = async (id = team.id) => (await heard.take()).filter(({ teamId }) => teamId === id);

  it('a notification is sent only after a commit that changed a row', async () => {
    const { database } = service.runtime;
    await database.transaction(async (trx) => {
      await setTeamName(trx, { teamId: team.id, name: 'Not yet' });
      assert.deepEqual(await ofTeam(), [], 'before the commit');
    });
    assert.deepEqual(await ofTeam(), [{ teamId: team.id, resource: 'team', ids: 'all' }]);
    await assert.rejects(
      database.transaction(async (trx) => {
        await setTeamName(trx, { teamId: team.id, name: 'Never' });
        throw new Error('changed my mind');
      }),
    );
    await assert.rejects(
      database.transaction(async (trx) => {
        await setTeamName(trx, { teamId: team.id, name: 'Never' });
        await failStatement(trx);
      }),
    );
    await assert.rejects(
      insertTeam(database.pool, {
        id: team.id,
        name: 'Taken',
        plan: 'pro',
        monthly_message_limit: 1,
        test_of: null,
        created_at: service.clock.now(),
      }),
    );
    await setTeamName(database.pool, { teamId: service.runtime.ids.next('team'), name: 'Nobody' });
    assert.deepEqual(await heard.take(), []);
  });

  it('a thousand sends make a few notifications of changes, and their phones are woken first', async () => {
    const { phoneNumber } = await connectNumber(service, team, '+14155550102');
    await heard.take();
    const startedMs = performance.now();
    const message = { from: phoneNumber, to, content: 'Hello' };
    await Promise.all(Array.from({ length: 1_000 }, () => team.api.send(message)));
    const told = (await ofTeam()).filter(({ resource }) => resource === 'message');
    // Greatest number of notifications: one every 50 ms, and one more at the beginning and at the end.
    const most = (performance.now() - startedMs) / 50 + 2;
    assert.ok(told.length >= 1 && told.length <= most, `${told.length} notifications, ${most} at most`);

    const { heard: order, stop } = await hearNotifications(service, phoneQueueChannel, changesChannel);
    await team.api.send(message);
    await until('both are told', () => new Set(order.map(({ channel }) => channel)).size === 2);
    await stop();
    assert.equal(order[0]?.channel, phoneQueueChannel);
  });

  it(`a notification has at most ${idsMax} ids of a resource type, and none if there are more`, async () => {
    const { recordChange } = service.runtime.database.pool;
    const ids = Array.from({ length: idsMax }, () => randomUUID());
    // The longest resource type, whose payload must be within PostgreSQL’s limit.
    for (const id of ids) recordChange(team.id, 'invitation', [id]);
    recordChange(team.id, 'invitation', ids.slice(0, 10));
    recordChange(team.id, 'webhook', [...ids, randomUUID()]);
    recordChange(team.id, 'key', ids.slice(0, 1));
    recordChange(team.id, 'key', []);
    recordChange(team.id, 'key', ids.slice(1, 2));
    const told = Object.fromEntries((await ofTeam()).map(({ resource, ids }) => [resource, ids]));
    assert.deepEqual(told, { invitation: new Set(ids), webhook: 'all', key: 'all' });
  });

  it('a closing process sends the notifications of the commits before its end', async () => {
    const closing = new Database({ databaseUrl: service.databaseUrl, logger });
    await setTeamName(closing.pool, { teamId: team.id, name: 'Last' });
    await closing.close();
    assert.equal((await ofTeam()).length, 1);
  });

  it('notifications that fail are logged and dropped, and later ones are sent', async (t) => {
    const proxy = await startFreezingProxy(service.databaseUrl);
    const lines: unknown[] = [];
    const noting = Object.assign(createLogger('silent'), {
      warn: (_: unknown, line: string) => lines.push(line),
    });
    const beyond = new Database({ databaseUrl: proxy.url, logger: noting, statementTimeoutMs: 200 });
    const told = async (noun: ResourceType) => (await ofTeam()).some((change) => change.resource === noun);
    t.after(() => beyond.close());
    t.after(() => proxy.close());
    beyond.pool.recordChange(team.id, 'team', []);
    await until('the first is notified', () => told('team'));
    proxy.freeze();
    beyond.pool.recordChange(team.id, 'number', []);
    const line = 'sending notifications failed; sweeps and subscribers read again by themselves';
    await until('it is given up', () => lines.includes(line));
    beyond.pool.recordChange(team.id, 'webhook', []);
    await until('the next one is notified', () => told('webhook'));
  });

  it('changes without a request are notified, too: positions in the feed, attempts and sweeps', async () => {
    const { phoneNumber } = await connectNumber(service, team, '+14155550103');
    await newWebhook(team.api, { events: ['message.failed'] });
    const id = await team.api.send({ from: phoneNumber, to, content: 'Hello' });
    await heard.take();
    await team.api.post(`/v1/messages/${id}/cancel`);
    const told = new Set<ResourceType>();
    await until('the event has its place, and its first attempt failed', async () => {
      for (const { resource } of await ofTeam()) told.add(resource);
      return told.has('event') && told.has('webhook');
    });
    assert.deepEqual([...told].sort(), ['audit', 'delivery', 'event', 'message', 'usage', 'webhook']);

    const { runtime, clock } = service;
    const off = await putWebhook(service, team.id, ['message.sent'], { isActive: false });
    await newDelivery(service, team, publicId('wh', off.id), { status: 'pending' });
    await team.api.post('/v1/numbers/verify', { phone_number: '+14155550104' });
    await heard.take();
    await sweepDeliveries(runtime);
    await until('what waited for a webhook that is off was skipped', async () =>
      (await ofTeam()).some(({ resource }) => resource === 'delivery'),
    );
    await deleteOverduePending(runtime.database.pool, { at: clock.in(8 * 24 * 3_600_000) });
    assert.ok((await ofTeam()).some(({ resource, ids }) => resource === 'number' && ids !== 'all'));
  });

  it('a webhook’s first attempt is notified, and then only the first attempt of each minute', async () => {
    const { id } = await putWebhook(service, team.id, ['message.sent']);
    const lastTriggered = createLastTriggered(service.runtime);
    const beginMs = Math.ceil(service.clock.now().getTime() / 60_000) * 60_000;
    const changesAt = async (seconds: number) => {
      lastTriggered.record(id, new Date(beginMs + seconds * 1_000));
      await lastTriggered.flush();
      return ofTeam();
    };
    await heard.take();
    const change = { teamId: team.id, resource: 'webhook', ids: new Set([id]) };
    assert.deepEqual(await changesAt(0), [change]);
    assert.deepEqual(await changesAt(59), []);
    assert.deepEqual(await changesAt(61), [change]);
    assert.deepEqual(await changesAt(62), []);
  });
});

describe('a subscriber to changes (decision 0018)', () => {
  let team: TestTeam;
  let otherTeam: TestTeam;
  const service = givenService();

  before(async () => {
    [team, otherTeam] = [await service.newTeam(), await service.newTeam()];
  });

  function listen(changes: Changes, teamId: TeamId): { readonly told: Told[]; readonly leave: () => void } {
    const told: Told[] = [];
    return { told, leave: changes.subscribe(teamId, (change) => told.push(change)) };
  }

  it('a subscriber gets the changes of exactly its team from another process, with the ids', async (t) => {
    const { changes } = service.app;
    const another = await service.startAnother();
    t.after(() => another.close());
    await connectNumber(service, team, from);
    const [own, alike, other] = [team, team, otherTeam].map(({ id }) => listen(changes, id));
    assert.ok(own && alike && other);
    await settle(own.told);
    const number = (await findNumber(team.api, from))?.id;
    const there = new ApiClient(another.baseUrl, team.api.key);
    await there.put(`/v1/numbers/${number}`, { label: 'Reception' });
    await new ApiClient(another.baseUrl, otherTeam.api.key).put('/v1/team', { name: 'Other' });
    await until('the other team hears its own', () => other.told.length === 2);
    const ids = new Set([uuidOf('num', String(number))]);
    assert.deepEqual(
      own.told.find((change) => change !== 'everything' && change.resource === 'number'),
      { resource: 'number', ids },
    );
    assert.deepEqual(alike.told.slice(-own.told.length), own.told);
    assert.deepEqual(own.told.map(nounOf).sort(), ['audit', 'number']);
    assert.deepEqual(other.told.map(nounOf).sort(), ['audit', 'team']);
    for (const { leave } of [own, alike, other]) leave();
  });

  it('after a lost connection a subscriber gets one notification that everything may have changed, and then single changes again', async () => {
    const [own, other] = [team, otherTeam].map(({ id }) => listen(service.app.changes, id));
    assert.ok(own && other);
    await cutListeners(service);
    await until('both are told', () => own.told.includes('everything') && other.told.includes('everything'));
    await team.api.put('/v1/team', { name: 'Heard again' });
    await until('a change is heard', () => own.told.some((change) => nounOf(change) === 'team'));
    assert.deepEqual(other.told, ['everything']);
    for (const { leave } of [own, other]) leave();
  });

  it('subscribers that fail, unsubscribe or subscribe in a call do not affect the others', () => {
    const changes = new Changes(logger);
    changes.subscribe(team.id, () => {
      throw new Error('changed my mind');
    });
    let came = 0;
    const coming: ChangeListener = () => {
      came += 1;
      leaveComing();
      leaveComing = changes.subscribe(team.id, coming);
    };
    let leaveComing = changes.subscribe(team.id, coming);
    const last = listen(changes, team.id);
    changes.onNotification(`${team.id} message all`);
    assert.deepEqual([came, last.told], [1, [{ resource: 'message', ids: 'all' }]]);
    last.leave();
    changes.onNotification('');
    assert.deepEqual([came, last.told.length], [2, 1], 'it is called once, and not after it left');
  });

  it('a subscriber ignores unknown resource types of a later version, and other teams', () => {
    const changes = new Changes(logger);
    const { told } = listen(changes, team.id);
    changes.onNotification(`${team.id} invoice all`);
    changes.onNotification(`${otherTeam.id} message all`);
    assert.deepEqual(told, []);
  });

  const nounOf = (change: Told) => (change === 'everything' ? change : change.resource);

  /** Waits for the notifications of earlier commits, and empties the list. */
  async function settle(told: Told[]): Promise<void> {
    await team.api.put('/v1/team', { name: 'Settled' });
    await until('it is settled', () => told.some((change) => nounOf(change) === 'team'));
    await until('so is its entry in the log', () => told.some((change) => nounOf(change) === 'audit'));
    told.length = 0;
  }
});
