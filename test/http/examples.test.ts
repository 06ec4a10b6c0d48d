import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Event, eventTypes } from '#contract/event.ts';
import { eventExamples } from '#contract/event-examples.ts';
import {
  exampleContact as contact,
  exampleServer,
  exampleIds as ids,
  exampleNumber as number,
} from '#contract/example-values.ts';
import { examplesOfEveryOperation, examplesOfRoute } from '#server/http/refusal-examples.ts';
import { createSimulatedNumber } from '#server/numbers/create-simulated-number.ts';
import { operator } from '#server/platform/actor.ts';
import { publicId } from '#server/platform/ids.ts';
import { teamRequestsRunningMax, teamRequestsWaitingMax } from '#server/usage/team-limiter.ts';
import { deliveryHeaderTexts } from '#server/webhooks/dispatch/request-texts.ts';
import { untilBlocked } from '#test/support/database/blocked-statements.ts';
import { holdRowLock } from '#test/support/database/row-lock.ts';
import { refuseInsertsOf } from '#test/support/database/table-faults.ts';
import { ExampleStory } from '#test/support/http/example-story.ts';
import { png } from '#test/support/media/sample-files.ts';
import { passWatchedTime } from '#test/support/numbers/pass-served-time.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber, connectPhone, type DeviceWire } from '#test/support/phones/test-phone.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';
import { putAccepted, putSpentMinute } from '#test/support/usage/given-usage.ts';
import { type MadeWebhook, newWebhook } from '#test/support/webhooks/make-webhooks.ts';
import { answering, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';

/** Sends every example of the API reference, in an order in which a team would do so. */
describe('the examples of the API reference (§2.1/timestamps, §2.1/empty-values, §9/openapi)', () => {
  const service = givenService(
    {
      BASE_URL: exampleServer,
      RATE_LIMITS: 'on',
      PACING: 'gentle',
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    },
    // No name server answers, so the media of the examples are never fetched.
    { nameServers: ['127.0.0.1:9'] },
  );
  const team = given(() => service.newTeam({ plan: 'pro' }));
  const receiver = given(() => startWebhookReceiver({ behaviour: answering(200, 'ok') }));
  const story = given(
    () => new ExampleStory({ routes: service.app.routes, api: team.api, receiverUrl: receiver.url }),
  );
  const tell: ExampleStory['tell'] = (...named) => story.tell(...named);
  let phone: DeviceWire;
  /** A webhook for every type of event. */
  let everything: MadeWebhook;

  /** True if the data of an event are about the subject of an example: a message, a contact or a number. */
  const isAbout = (
    data: { readonly id?: string; readonly contact?: string },
    example: { readonly id: string } | { readonly contact: string },
  ) => ('id' in example ? data.id === story.values.idOf(example.id) : data.contact === example.contact);
  const newFreeTeam = () => service.newTeam({ plan: 'free' });
  const send = (content: string) => team.api.send({ from: number, to: contact, content });
  /** Waits until the webhook with the path `/hooks` got an event. */
  const delivered = (type: string) =>
    until(`a delivery of ${type}`, () =>
      receiver.received.some(
        ({ path, headers }) =>
          path === '/hooks' && headers['x-service-event'] === type && !headers['x-service-test'],
      ),
    );
  const deliveryEnds = (status: string) =>
    until(`a delivery of message.sent is ${status}`, async () => {
      const { json } = await team.api.get(`/v1/webhooks/${story.values.idOf(ids.webhook)}/deliveries`);
      const deliveries = json.deliveries as { readonly status: string }[];
      return deliveries.every((delivery) => delivery.status === status);
    });

  it('a team reads its name and its members, and invites a person, as the examples say', async () => {
    await tell('updateTeam', 'renamed');
    await tell('getTeam', 'pro');
    await newMember(service, team, 'owner', { email: 'ada@example.com', name: 'Ada Example' });
    await newMember(service, team, 'viewer', { email: 'grace@example.com', name: 'Grace Example' });
    const free = await newFreeTeam();
    await newMember(service, free, 'owner');
    await tell('listMembers', 'two');
    await tell('changeRole', 'member');
    for (const name of ['a_member', 'invited']) await tell('inviteMember', name);
    await tell('inviteMember', 'plan_limit', free.api);
    await tell('listInvitations', 'one');
    await tell('resendInvitation', 'sent_again');
    await tell('revokeInvitation', 'revoked');
    await tell('removeMember', 'removed');
  });

  it('a team connects an iPhone as the examples say', async () => {
    await tell('listNumbers', 'none');
    const { json } = await tell('verifyNumber', 'link');
    const list = await team.api.get('/v1/numbers');
    story.values.bind(ids.number, String(field(list.json, 'numbers.0.id')));
    await tell('getNumber', 'pending');
    phone = await connectPhone(service, team.api, number, String(json.setup_url));
    await tell('verifyNumber', 'connected');
    for (const name of ['label', 'pacing']) await tell('updateNumber', name);
    await tell('listNumbers', 'connected');
    await tell('getNumber', 'online');
    await team.api.put(`/v1/numbers/${story.values.idOf(ids.number)}`, { pacing: { mode: 'off' } });
    const free = await newFreeTeam();
    await connectNumber(service, free, '+14155550103');
    await tell('verifyNumber', 'plan_limit', free.api);
  });

  it('a team creates a webhook and tests it as the examples say', async () => {
    everything = await newWebhook(team.api, { url: `${receiver.url}/all`, events: eventTypes });
    await tell('createWebhook', 'messages');
    const free = await newFreeTeam();
    for (let made = 0; made < 5; made += 1) await newWebhook(free.api);
    await tell('createWebhook', 'plan_limit', free.api);
    await tell('testWebhook', 'queued');
    await deliveryEnds('succeeded');
  });

  it('a team sends a message and follows it until its delivery, as the examples say', async () => {
    const first = await tell('sendMessage', 'text');
    assert.equal(first.headers.get('idempotent-replayed'), null);
    const repeated = await tell('sendMessage', 'text');
    assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
    await tell('sendMessage', 'key_reused');
    const id = String(first.json.id);
    assert.equal((await phone.poll()).id, id);
    await phone.poll({ last: id });
    await phone.call('status', { id, status: 'delivered' });
    await tell('getMessage', 'delivered');
    await tell('cancelMessage', 'already_delivered');
  });

  it('a contact replies, and the team reads messages and events, as the examples say', async () => {
    await phone.call('inbound', { from: contact, text: 'Yes, see you then' });
    for (const name of ['newest', 'first_page', 'next_page', 'replies']) await tell('listMessages', name);
    for (const name of ['newest', 'waiting']) await tell('listConversations', name);
    await tell('listConversationMessages', 'newest');
    for (const name of ['words', 'last_digits', 'too_short']) await tell('searchMessages', name);
    await tell('getMessage', 'received');
    for (const name of ['oldest', 'first_page', 'next', 'none', 'gap']) await tell('listEvents', name);
    await delivered('message.received');
    await deliveryEnds('succeeded');
    await until('the time of the last attempt is written', async () => {
      const { json } = await team.api.get(`/v1/webhooks/${story.values.idOf(ids.webhook)}`);
      return json.last_triggered_at !== null;
    });
    await tell('getWebhook', 'active');
  });

  it('a team cancels a message, and another message fails while the webhook is disabled, as the examples say', async () => {
    story.values.bind(ids.cancelled, await send('Your table is almost ready.'));
    await tell('cancelMessage', 'cancelled');
    await delivered('message.failed');
    await deliveryEnds('succeeded');
    await tell('updateWebhook', 'switch_off');
    story.values.bind(ids.failed, await send('See you at seven.'));
    await phone.poll();
    const report = { last: story.values.idOf(ids.failed), last_status: 'failed', last_error: 'no network' };
    await phone.poll(report);
    await tell('getMessage', 'failed');
  });

  it('a team replays the events that the webhook missed, and redelivers one, as the examples say', async () => {
    for (const name of ['of_one_type', 'skipped']) await tell('listDeliveries', name);
    await tell('getDelivery', 'succeeded');
    await tell('replayDeliveries', 'switched_off');
    await tell('updateWebhook', 'switch_on');
    await tell('replayDeliveries', 'missed');
    await deliveryEnds('succeeded');
    for (const name of ['test', 'queued']) await tell('redeliver', name);
    await deliveryEnds('succeeded');
  });

  it('a team rotates the secret of a webhook and changes the webhook, as the examples say', async () => {
    await tell('finishWebhookSecretRotation', 'none_started');
    for (const name of ['started', 'already_started']) await tell('rotateWebhookSecret', name);
    await team.api.post(`/v1/webhooks/${story.values.idOf(ids.webhook)}/test`);
    await until('a delivery with two signatures', () =>
      receiver.received.some(({ headers }) => 'x-service-signature-next' in headers),
    );
    await tell('finishWebhookSecretRotation', 'finished');
    await tell('updateWebhook', 'one_number');
  });

  it('a contact is opted out and in again as the examples say', async () => {
    await phone.call('inbound', { from: contact, text: 'STOP' });
    const { json } = await team.api.get('/v1/opt-outs');
    story.values.bind(ids.stop, String(field(json, 'opt_outs.0.message_id')));
    await tell('sendMessage', 'opted_out');
    await tell('createOptOut', 'opted_out');
    for (const name of ['newest', 'first_page', 'next_page']) await tell('listOptOuts', name);
    for (const name of ['opted_in', 'not_opted_out']) await tell('deleteOptOut', name);
    await team.api.delete(`/v1/opt-outs/${encodeURIComponent(contact)}`);
  });

  it('a team names people, finds them and forgets them as the examples say', async () => {
    await tell('createContact', 'created');
    await tell('createContact', 'taken');
    const { name, handles } = { name: 'Grace Example', handles: ['+14155550102'] };
    await team.api.post('/v1/contacts', { name, handles });
    for (const example of ['newest', 'first_page', 'next_page', 'by_handle', 'by_name'])
      await tell('listContacts', example);
    const file =
      'name,phone,email\nGrace Hopper,+14155550102,\nLin Example,,lin@example.com\n,,nobody@example.com\n';
    await tell('importContacts', 'preview', team.api, file);
    const lock = await holdRowLock(service, { teamId: team.id });
    const imported = tell('importContacts', 'imported', team.api, file);
    await untilBlocked(service, 'teams.lock');
    await tell('importContacts', 'running', team.api, file);
    await lock.release();
    await imported;
    await tell('getContact', 'found');
    await tell('replaceContact', 'replaced');
    await tell('deleteContact', 'deleted');
  });

  it('the messages of a paused number wait as the examples say', async () => {
    story.values.bind(ids.waiting, await send('We open at noon.'));
    await tell('updateNumber', 'pause');
    await tell('getMessage', 'queued');
    await team.api.put(`/v1/numbers/${story.values.idOf(ids.number)}`, { status: 'active' });
  });

  it('an iPhone goes offline and comes back as the examples say, and by then the webhook has got every type of event (§6.2/envelope)', async () => {
    await passWatchedTime(service, 6 * 60_000);
    await phone.poll();
    await passWatchedTime(service, 15_000);
    const all = () => receiver.received.filter(({ path }) => path === '/hooks/all');
    for (const type of eventTypes) {
      await until(`a delivery of ${type}`, () =>
        all().some(({ headers }) => headers['x-service-event'] === type),
      );
      const example = eventExamples[type];
      const found = all()
        .map(({ body }) => JSON.parse(body.toString()))
        .find(({ type: own, data }) => own === type && isAbout(data, example.data));
      story.compare(found, example, type);
      for (const part of ['data', 'envelope'] as const) {
        const fields = (event: Event) => Object.keys(part === 'data' ? event.data : event);
        assert.deepEqual(fields(found), fields(example), `the order of the fields of ${type}`);
      }
    }
  });

  it('the headers of deliveries are those of the API reference', () => {
    const documented = new Map(deliveryHeaderTexts.map((header) => [header.name, header]));
    const isOwn = (name: string) => /^(x-service-|webhook-|user-agent)/.test(name);
    const seen = new Set<string>();
    for (const { headers } of receiver.received) {
      for (const [name, value] of Object.entries(headers).filter(([header]) => isOwn(header))) {
        const { pattern = '', enum: values } = (documented.get(name)?.schema ?? { enum: [] }) as {
          readonly pattern?: string;
          readonly enum?: readonly unknown[];
        };
        assert.ok(
          values ? values.includes(value) : new RegExp(pattern).test(String(value)),
          `${name}: ${value}`,
        );
        seen.add(name);
      }
      for (const { name, required } of documented.values())
        assert.ok(!required || name in headers, `${name} is in each delivery`);
    }
    assert.deepEqual([...seen].sort(), [...documented.keys()].sort());
  });

  it('each operation refuses a request without key, permission or valid body, and with unknown fields or ids, as the examples say', async () => {
    const noKey = new ApiClient(service.baseUrl, '');
    const [teamKey, numbersKey] = [
      await service.newKey(team.id, ['team:read']),
      await service.newKey(team.id, ['numbers:read']),
    ];
    const examples = Object.values(examplesOfEveryOperation[401] ?? {});
    const [first, ...others] = examples;
    assert.ok(first);
    for (const route of story.operations.values()) {
      await story.check(route, first, noKey);
      const { no_permission, body_too_large, ...ordinary } = examplesOfRoute(route);
      for (const example of Object.values(ordinary)) await story.check(route, example);
      if (no_permission)
        await story.check(route, no_permission, route.permission === 'team:read' ? numbersKey : teamKey);
      if (!body_too_large) continue;
      const tooLarge = 'x'.repeat((route.admission?.bodyMaxBytes ?? 16 * 1_024) + 1);
      await story.check(route, body_too_large, team.api, tooLarge);
      if (route.admission?.streamsBody) continue;
      for (const example of Object.values(examplesOfEveryOperation[415] ?? {}))
        await story.check(route, example, team.api, 'hello');
    }
    const anyRoute = [...story.operations.values()][0];
    assert.ok(anyRoute);
    for (const example of others) await story.check(anyRoute, example, noKey);
  });

  it('a team connects another iPhone, and a member leaves, as the examples say', async () => {
    await tell('sendMessage', 'picture');
    await tell('uploadMedia', 'picture', team.api, png);
    await tell('uploadMedia', 'other_type', team.api, 'Hello');
    for (const name of ['file', 'unknown_file']) await tell('sendMessage', name);
    await tell('reconnectNumber', 'link');
    const simulated = await createSimulatedNumber(service.runtime, team.id, '+14155550123', operator);
    story.values.bind(ids.simulated, publicId('num', simulated));
    await tell('reconnectNumber', 'simulated');
    await tell('deleteNumber', 'deleted');
    const webhook = `/v1/webhooks/${story.values.idOf(ids.webhook)}`;
    await team.api.put(webhook, { phone_number: null });
    await team.api.delete(`/v1/webhooks/${everything.id}`);
    await tell('listWebhooks', 'one');
    await tell('deleteWebhook', 'deleted');
  });

  it('a team on the plan free reaches its limits as the examples say', async () => {
    const free = await newFreeTeam();
    await connectNumber(service, free, number);
    await putAccepted(service, free.id, 100);
    await tell('sendMessage', 'media_not_in_plan', free.api);
    await tell('uploadMedia', 'not_in_plan', free.api, png);
    await tell('sendMessage', 'month_used_up', free.api);
  });

  it('a server that gets too many requests, or that fails, answers as the examples say', async () => {
    const [getTeam, createOptOut] = ['getTeam', 'createOptOut'].map((name) => story.operations.get(name));
    assert.ok(getTeam && createOptOut);
    const [tooMany, failed, busy] = [429, 500, 503].map(
      (status) => Object.values(examplesOfEveryOperation[status] ?? {})[0],
    );
    assert.ok(tooMany && failed && busy);

    const limited = await service.newTeam();
    await putSpentMinute(service, limited.id, 0);
    await story.check(getTeam, tooMany, limited.api);

    const failing = await service.newTeam();
    const fault = await refuseInsertsOf(service, failing.id, 'events');
    await story.check(createOptOut, { ...failed, params: { contact } }, failing.api);
    await fault.end();

    const large = await service.newTeam({ plan: 'enterprise' });
    const lock = await holdRowLock(service, { teamId: large.id });
    // These requests bypass the referees, which are too slow for so many: the first ones would time out at the lock.
    const headers = { 'x-api-key': large.api.key, 'content-type': 'application/json' };
    const requests = Array.from({ length: teamRequestsRunningMax + teamRequestsWaitingMax + 1 }, () =>
      fetch(`${service.baseUrl}/v1/team`, { method: 'PUT', headers, body: '{"name":"Busy"}' }),
    );
    const refused = await Promise.race(requests);
    assert.equal(refused.status, busy.status);
    story.compare(await refused.json(), busy.answer, busy.summary);
    await lock.release();
    for (const answer of await Promise.all(requests)) if (!answer.bodyUsed) await answer.text();
  });

  it('the message of each example of a 402 names its upgrade_url', () => {
    const refused = service.app.routes.flatMap(({ text }) => Object.values(text?.examples ?? {}));
    const messages = refused.filter(({ status }) => status === 402).map(({ answer }) => answer);
    assert.ok(messages.length >= 5);
    for (const answer of messages) {
      const [message, url] = [field(answer, 'error.message'), field(answer, 'error.upgrade_url')];
      assert.ok(String(message).endsWith(`, or see ${url} for a larger plan.`), String(message));
    }
  });

  it('every example of the API reference was compared with a real request and answer', () => {
    assert.deepEqual([...story.told].sort(), [...story.examples].sort());
  });
});
