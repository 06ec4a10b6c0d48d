import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Home, homeCountMax, homeNumberCountMax } from '#contract/home.ts';
import { putFailedMessages, putWaitingMessages } from '#test/support/messages/given-many-messages.ts';
import { passServedTime } from '#test/support/numbers/pass-served-time.ts';
import { newMember } from '#test/support/people/people.ts';
import { claim, connectNumber, findNumber } from '#test/support/phones/test-phone.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given, givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';
import { putWebhook, uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const to = '+14155550101';

describe('GET home of a team', () => {
  const service = givenService({ ROLES: 'api,maintain' });
  given(() => plantCanary(service));
  const team = givenEach(() => service.newTeam());
  const viewer = givenEach(() => newMember(service, team, 'viewer'));

  const home = async (): Promise<Home> => {
    const answer = await viewer.get(viewer.in('/home'));
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as Home;
  };

  it('the home of a new team has only the month’s usage', async () => {
    const { usage, ...rest } = await home();
    assert.deepEqual(rest, {
      waiting_messages: 0,
      failed_last_day: 0,
      webhooks_failing: 0,
      webhooks_disabled: 0,
      numbers: [],
      first_run: { has_number: false, has_delivered: false, has_webhook: false, has_key_used: false },
      retention_late_days: 0,
      key_changes: [],
    });
    const { sent, received, monthly_message_limit, resets_at, month } = (
      await viewer.get(viewer.in('/usage'))
    ).json;
    assert.deepEqual(usage, { month, sent, received, monthly_message_limit, resets_at });
  });

  it('the home shows the steps of the first run: a number, a used key, a sent message, a webhook', async () => {
    const made = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550120' });
    assert.equal((await home()).first_run.has_number, false, 'a pending number is none');
    const wire = await claim(team.api, String(made.json.setup_url));
    await wire.poll();
    assert.equal((await home()).first_run.has_number, true);
    service.clock.advance(6_000);
    await until('the use of the key is written', async () => (await home()).first_run.has_key_used);
    await team.api.send({ from: '+14155550120', to, content: 'Hello' });
    const { id } = await wire.poll();
    assert.equal((await home()).first_run.has_delivered, false);
    await wire.poll({ last: String(id) });
    assert.equal((await home()).first_run.has_delivered, true);
    assert.equal((await home()).first_run.has_webhook, false);
    await putWebhook(service, team.id, ['message.sent']);
    assert.equal((await home()).first_run.has_webhook, true);
  });

  it('the home shows each number with its state, its likely cause and its waiting messages', async () => {
    const online = await connectNumber(service, team);
    await online.wire.poll();
    const link = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550130' });
    const idOf = async (phoneNumber: string) => (await findNumber(team.api, phoneNumber))?.id;
    const states = async () =>
      (await home()).numbers.map(({ state, likely_cause }) => `${state} ${likely_cause}`);
    assert.deepEqual(await states(), ['online null', 'pending setup_link_unopened']);
    await claim(team.api, String(link.json.setup_url));
    assert.equal((await states())[1], 'pending shortcuts_not_run');
    const queuedAt = service.clock.now();
    await team.api.send({ from: online.phoneNumber, to, content: 'Hello' });
    const [first] = (await home()).numbers;
    assert.equal(first?.waiting_messages, 1);
    assert.ok(Date.parse(first.oldest_waiting_at ?? '') >= queuedAt.getTime());
    const {
      state,
      likely_cause,
      setup_link,
      waiting_messages,
      oldest_waiting_at,
      inbound_coverage,
      texts_received,
      ...listed
    } = first;
    assert.deepEqual(listed, await findNumber(team.api, online.phoneNumber));
    assert.deepEqual(
      [state, likely_cause, setup_link, waiting_messages, inbound_coverage, texts_received],
      ['online', null, 'polled', 1, 'unknown', 'never'],
    );
    assert.ok(oldest_waiting_at);
    await passServedTime(service, 100_000);
    assert.equal((await states())[0], 'late null');
    await passServedTime(service, 5 * 60_000);
    assert.equal((await states())[0], 'offline no_power_or_network');
    await passServedTime(service, 60 * 60_000);
    assert.equal((await states())[0], 'offline automation_stopped');
    const id = await idOf(online.phoneNumber);
    const again = await team.api.post(`/v1/numbers/${id}/reconnect`, {});
    assert.equal((await states())[0], 'offline reconnect_unfinished');
    const next = await claim(team.api, String(again.json.setup_url));
    assert.equal((await states())[0], 'offline reconnect_unfinished');
    await next.poll();
    assert.equal((await states())[0], 'online null');
    await team.api.put(`/v1/numbers/${id}`, { status: 'paused' });
    assert.equal((await states())[0], 'paused null');
  });

  it('the home shows for each number whether the connected phone, or only an earlier phone, has delivered a text', async () => {
    const { wire, numberId } = await connectNumber(service, team, '+14155550131');
    const received = async () => (await home()).numbers.find(({ id }) => id === numberId)?.texts_received;
    assert.equal(await received(), 'never');
    await wire.call('inbound', { from: to, text: 'Is it still for sale?' });
    assert.equal(await received(), 'this_phone');
    const again = await team.api.post(`/v1/numbers/${numberId}/reconnect`, {});
    const next = await claim(team.api, String(again.json.setup_url));
    await next.poll();
    assert.equal(await received(), 'earlier_phone');
    await next.call('inbound', { from: to, text: 'And today?' });
    assert.equal(await received(), 'this_phone');
  });

  it('the home shows how far the setup has got with the latest setup link of a number, also for a second phone', async () => {
    const made = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550140' });
    const setup = async () => (await home()).numbers.map(({ setup_link }) => setup_link);
    assert.deepEqual(await setup(), ['unopened']);
    const first = await claim(team.api, String(made.json.setup_url));
    assert.deepEqual(await setup(), ['claimed']);
    await first.poll();
    assert.deepEqual(await setup(), ['polled']);
    const id = (await findNumber(team.api, '+14155550140'))?.id;
    await team.api.post(`/v1/numbers/${id}/reconnect`, {});
    await first.poll();
    assert.deepEqual(await setup(), ['unopened'], 'the poll of the old phone does not count');
    service.clock.advance(25 * 3_600_000);
    assert.deepEqual(await setup(), ['ended']);
    const again = await team.api.post(`/v1/numbers/${id}/reconnect`, {});
    const second = await claim(team.api, String(again.json.setup_url));
    await first.poll();
    assert.deepEqual(await setup(), ['claimed']);
    await second.poll();
    assert.deepEqual(await setup(), ['polled']);
  });

  it('the home counts waiting messages and the failures of the last day, each up to a maximum', async () => {
    const { numberId, phoneNumber } = await connectNumber(service, team);
    const number = { teamId: team.id, numberId: uuidOf('num', numberId), phoneNumber };
    const now = service.clock.nowMs();
    await putFailedMessages(service, number, { count: 3, atMs: now - 3_600_000 });
    await putFailedMessages(service, number, { count: 2, atMs: now - 25 * 3_600_000 });
    await putFailedMessages(service, number, { count: 4, atMs: now - 3_600_000, errorCode: 'cancelled' });
    await putWaitingMessages(service, number, 5);
    const few = await home();
    assert.deepEqual([few.failed_last_day, few.waiting_messages], [3, 5]);
    await putFailedMessages(service, number, { count: homeCountMax + 5, atMs: now - 60_000 });
    await putWaitingMessages(service, number, homeCountMax);
    const many = await home();
    assert.deepEqual([many.failed_last_day, many.waiting_messages], [homeCountMax, homeCountMax]);
    assert.equal(many.numbers[0]?.waiting_messages, homeNumberCountMax);
  });

  it('the home counts webhooks whose last attempt failed, and those that failures disabled', async () => {
    await putWebhook(service, team.id, ['message.sent']);
    await putWebhook(service, team.id, ['message.sent'], { failureCount: 3 });
    await putWebhook(service, team.id, ['message.sent'], { isActive: false });
    const { webhooks_failing, webhooks_disabled } = await home();
    assert.deepEqual([webhooks_failing, webhooks_disabled], [1, 0]);
    await putWebhook(service, team.id, ['message.sent'], {
      isActive: false,
      disabledBy: 'failures',
      failureCount: 10,
    });
    assert.deepEqual((await home()).webhooks_disabled, 1);
  });
});
