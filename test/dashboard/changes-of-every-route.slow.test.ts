import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Browser } from '#test/support/browser/browser-client.ts';
import { countStored } from '#test/support/dashboard/stored-resources.ts';
import { hearChanges } from '#test/support/database/listen-for-changes.ts';
import { watchLocks } from '#test/support/database/watch-locks.ts';
import { below, ofMembers } from '#test/support/http/member-operations.ts';
import { addressOf, newThings, operations, sender } from '#test/support/http/operations.ts';
import { invite as inviteTo } from '#test/support/people/invite.ts';
import { join, newMember, newPerson } from '#test/support/people/people.ts';
import { claim, connectNumber, type DeviceWire, findNumber } from '#test/support/phones/test-phone.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { act } from '#test/support/setup/setup-page.ts';
import { newWebhook, uuidOf } from '#test/support/webhooks/make-webhooks.ts';

/**
 * Notifications of each changing route of a team, for keys and members: the resource type and its id.
 * `:id` is the id in the address, `new` another id, `created` a new row without its id, `all` any row.
 * Most routes also write to the audit log.
 */
const told: Readonly<Record<string, readonly string[]>> = {
  'PUT /team': ['team all', 'audit new'],
  'PUT /team/members/:id/role': ['member :id', 'audit new'],
  'DELETE /team/members/:id': ['member :id', 'audit new'],
  'PUT /team/owners/:id': ['member :id', 'audit new'],
  'DELETE /team/owners/:id': ['member :id', 'audit new'],
  'POST /team/leave': ['member new', 'audit new'],
  'POST /team/members/invite': ['invitation new', 'audit new'],
  'DELETE /team/invitations/:id': ['invitation :id', 'audit new'],
  'POST /team/invitations/:id/resend': ['invitation :id', 'invitation new', 'audit new'],
  'POST /team/invitations/:id/link': ['invitation :id', 'audit new'],
  'POST /numbers/verify': ['number new', 'audit new'],
  'POST /numbers/:id/reconnect': ['number :id', 'audit new'],
  'POST /numbers/simulated': ['number new', 'audit new'],
  'PUT /numbers/:id': ['number :id', 'audit new'],
  'DELETE /numbers/:id': ['number :id', 'audit new'],
  'POST /messages/send': ['message created', 'usage all'],
  'PUT /opt-outs/:contact': ['opt_out new', 'audit new'],
  'DELETE /opt-outs/:contact': ['opt_out new', 'audit new'],
  'POST /messages/:id/cancel': ['message :id', 'usage all', 'audit new'],
  'POST /webhooks': ['webhook new', 'audit new'],
  'PUT /webhooks/:id': ['webhook :id', 'audit new'],
  'DELETE /webhooks/:id': ['webhook :id', 'audit new'],
  'POST /webhooks/:id/rotate-secret': ['webhook :id', 'audit new'],
  'POST /webhooks/:id/rotate-secret/finish': ['webhook :id', 'audit new'],
  'POST /webhooks/:id/deliveries/:delivery_id/redeliver': ['delivery :id', 'audit new'],
  'POST /webhooks/:id/replay': ['delivery all', 'audit new'],
  'POST /webhooks/:id/test': ['delivery new', 'audit new'],
  'POST /keys': ['key new', 'audit new'],
  // A read mark belongs to one member, so nothing changes for the team.
  'PUT /conversations/:phone_number/:contact/read': [],
  'DELETE /keys/:id': ['key :id', 'audit new'],
  // This service was not restored, so there is no restore hold to resume.
  'POST /restore/resume': [],
  // The contact has no messages. Otherwise the erasure would change messages and deliveries, too.
  'POST /erasures': ['audit new'],
};

/** Changing routes of one person's account, which no other client sees, and routes that the tests below cover. */
const ofOnePerson = /^\w+ \/(app\/account\/|app\/sign-in\/|link|sign-in|sign-out)/;
const toldElsewhere = /^\w+ \/(app\/account$|billing$|invite\/|setup\/|v1\/device\/)/;

describe('the changes that each route notifies (decision 0018)', () => {
  // The service runs no publisher and no dispatcher, so that each notification is caused by the request.
  const { service, team } = givenTeam({ ROLES: 'api' });
  given(() => connectNumber(service, team, sender));
  const changes = given(
    () => hearChanges(service),
    (heard) => heard.stop(),
  );
  const locks = given(watchLocks, (watch) => watch.stop());

  /**
   * Runs `work` and collects the notifications of `teams`.
   * @param id the id that is shown as `:id`
   * @returns the sorted notifications
   */
  async function toldBy(
    work: () => Promise<unknown>,
    { id, teams = [team] }: { id?: string | undefined; teams?: readonly TestTeam[] } = {},
  ): Promise<string[]> {
    await changes.take();
    await work();
    const heard = await changes.take();
    const strange = heard.filter(({ teamId }) => !teams.some((own) => own.id === teamId));
    assert.deepEqual(strange, [], 'something of another team');
    const lines = heard.map(async ({ teamId, resource, ids, created }) => {
      if (ids === 'all') return [`${resource} all`];
      if (created && ids.size === 0) return [`${resource} created`];
      const others = [...ids].filter((other) => other !== id);
      assert.ok(others.length <= 1, resource);
      const stored = await countStored(service, resource, teamId, others);
      return [
        ...(others.length < ids.size ? [`${resource} :id`] : []),
        ...others.map(() => `${resource} ${stored === 1 ? 'new' : 'of an id that is none'}`),
      ];
    });
    return (await Promise.all(lines)).flat().sort();
  }

  /** The uuid of the last id in an address. */
  function lastIdIn(address: string): string | undefined {
    const [text, prefix] = [...address.matchAll(/\b(usr|inv|num|msg|wh|dlv|key)_\w{26}/g)].at(-1) ?? [];
    return text === undefined ? undefined : uuidOf(prefix as 'num', text);
  }

  it('the list in this test names every route that changes something', () => {
    const listed = service.app.routes.filter(({ audience }) => audience === 'api' || audience === 'team');
    const changing = (routes: typeof service.app.routes) =>
      routes.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);
    const bare = (name: string) => name.replace(below, '').replace('/v1/', '/');
    assert.deepEqual([...new Set(changing(listed).map(bare))].sort(), Object.keys(told).sort());
    const others = changing(service.app.routes.filter((route) => !listed.includes(route)));
    assert.deepEqual(
      others.filter((name) => !ofOnePerson.test(name) && !toldElsewhere.test(name)),
      [],
    );
  });

  for (const [prefix, all] of [
    ['/v1', operations],
    [below, ofMembers],
  ] as const) {
    it(`each changing operation below ${prefix} notifies its team of exactly its resource types`, async () => {
      for (const [name, { status, body }] of Object.entries(all)) {
        // A simulated phone connects at once, which changes the number a second time. A separate test covers that.
        if (name.endsWith('/numbers/simulated')) continue;
        const [method = '', pattern = ''] = name.split(' ');
        const about = await newThings(service, team);
        const member = await newMember(service, team, 'owner');
        await ofMembers[name]?.prepare?.(about, member);
        // The request sends a new name, because an equal value would be no change.
        const fields = name.startsWith('PUT ') && pattern.endsWith('/team') ? { name } : body?.(about);
        const address = addressOf(pattern, about, method).replace(':team_id', team.publicId);
        const id = lastIdIn(address.replace(team.publicId, ''));
        const client = prefix === '/v1' ? team.api : member;
        const heard = await toldBy(
          async () => {
            // A live stream is requested by HEAD, because its answer would never end.
            const asked = ofMembers[name]?.isStream ? 'HEAD' : method;
            const answer = await client.request(asked, address, { body: fields });
            assert.equal(answer.status, status, `${name} ${answer.text}`);
          },
          { id },
        );
        assert.deepEqual(heard, (told[name.replace(prefix, '')] ?? []).toSorted(), name);
      }
    });
  }

  it('making a simulated number and connecting its phone each notify the number', async () => {
    const team = await service.newTeam();
    const owner = await newMember(service, team, 'owner');
    const isVerified = async () => /"verified":true/.test((await team.api.get('/v1/numbers')).text);
    const heard = await toldBy(
      async () => {
        assert.equal((await owner.post(owner.in('/numbers/simulated'), {})).status, 201);
        await until('its phone has polled', isVerified);
      },
      { teams: [team] },
    );
    assert.deepEqual([...new Set(heard)], told['POST /numbers/simulated']?.toSorted());
  });

  it('deleting a number with queued messages also notifies messages and usage, and deleting a webhook also notifies deliveries', async () => {
    const team = await service.newTeam();
    const { numberId } = await connectNumber(service, team, '+14155550111');
    await team.api.send({ from: '+14155550111', to: '+14155550112', content: 'Hello' });
    const webhook = { url: 'https://receiver.invalid/', events: ['message.failed'] };
    const { json } = await team.api.post('/v1/webhooks', webhook);
    const number = await toldBy(() => team.api.delete(`/v1/numbers/${numberId}`), { teams: [team] });
    assert.deepEqual(number, ['audit new', 'delivery all', 'message new', 'number new', 'usage all']);
    const webhookId = String(json.id);
    const deleted = await toldBy(() => team.api.delete(`/v1/webhooks/${webhookId}`), {
      id: uuidOf('wh', webhookId),
      teams: [team],
    });
    assert.deepEqual(deleted, ['audit new', 'delivery all', 'webhook :id']);
  });

  it('connecting a phone notifies its number, and a hand-out, a report or a received text notifies its message', async () => {
    const team = await service.newTeam();
    await newWebhook(team.api);
    const by = (work: () => Promise<unknown>, id?: string) =>
      toldBy(work, { teams: [team], id: id && uuidOf('msg', id) });
    const [from, to] = ['+14155550113', '+14155550112'];
    const connected = await by(() => connectNumber(service, team, from));
    assert.deepEqual([...new Set(connected)], ['audit new', 'number new']);
    const { json } = await team.api.post(`/v1/numbers/${(await findNumber(team.api, from))?.id}/reconnect`);
    let wire: DeviceWire | undefined;
    assert.deepEqual(await by(async () => (wire = await claim(team.api, String(json.setup_url)))), [
      'number new',
    ]);
    assert.ok(wire);
    const phone = wire;

    const id = await team.api.send({ from, to, content: 'Hello' });
    const taken = await by(() => phone.poll(), id);
    assert.deepEqual(taken, ['message :id', 'number new'], 'the takeover and the hand-out');
    assert.deepEqual(await by(() => phone.poll({ last: id }), id), ['message :id'], 'the report');
    const status = { id, status: 'delivered' };
    assert.deepEqual(await by(() => phone.call('status', status), id), ['message :id'], 'the status');
    const brought = await by(() => phone.call('inbound', { from: to, text: 'Hello' }));
    assert.deepEqual(
      brought,
      ['delivery all', 'message new', 'number new', 'usage all'],
      'the inbound message, and the first inbound test that this phone passes',
    );
    const again = await by(() => phone.call('inbound', { from: to, text: 'Hello again' }));
    assert.deepEqual(again, ['delivery all', 'message new', 'usage all'], 'a further one');
    assert.deepEqual(await by(() => phone.poll()), [], 'a poll that changes nothing');
  });

  it('each action on the setup page notifies the number', async () => {
    const { json } = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550114' });
    const setupUrl = String(json.setup_url);
    const told = (action: string, body: object = {}) => toldBy(() => act(setupUrl, action, body));
    assert.deepEqual(await told('claim', { form: 27 }), ['number new']);
    const wire = await claim(team.api, setupUrl);
    assert.deepEqual(await toldBy(() => claim(team.api, setupUrl)), [], 'the same token again');
    await wire.poll();
    assert.deepEqual(await told('test-text', { to: '+14155550199' }), [
      'message created',
      'number new',
      'usage all',
    ]);
    assert.deepEqual(await told('ticks', { name: 'charger', made: true }), ['number new']);
    assert.deepEqual(await told('form', { form: 26 }), ['number new']);
    assert.deepEqual(await told('done'), ['number new']);
  });

  it('joining notifies member and invitation', async () => {
    const { accept_url: link } = await inviteTo(service, team, 'page@example.com');
    const fields = { name: 'Ada Example', password: 'correct horse battery' };
    const guest = new Browser(service.baseUrl);
    const told = await toldBy(() => guest.submit(link, fields));
    assert.deepEqual(told, ['audit new', 'invitation new', 'member new']);
  });

  it('a person’s new name is notified to each of their teams, and no team is notified of other account changes', async () => {
    const [one, other, left] = [await service.newTeam(), await service.newTeam(), await service.newTeam()];
    const person = await newPerson(service);
    await join(service, one, person, 'viewer');
    await join(service, other, person, 'admin');
    const leaver = await join(service, left, person, 'viewer');
    await leaver.post(leaver.in('/team/leave'));
    const renamed = await toldBy(() => person.put('/app/account', { name: 'Ada' }), { teams: [one, other] });
    assert.deepEqual(renamed, ['member all', 'member all']);
    assert.deepEqual(await toldBy(() => person.post('/app/account/sign-out')), []);
  });

  it('the transactions of all these requests lock tables in the order of docs/internals/locks.md', () => {
    assert.deepEqual([...locks.wrong], []);
    assert.ok(locks.orders.size > 12, [...locks.orders].join('\n'));
  });
});
