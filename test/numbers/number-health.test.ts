import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Event } from '#contract/event.ts';
import type { NumberHealth } from '#contract/number-health.ts';
import { PollService } from '#server/numbers/poll-service.ts';
import { watchNumbers } from '#server/numbers/watch-numbers.ts';
import { refuseInsertsOf } from '#test/support/database/table-faults.ts';
import { findDeviceSession } from '#test/support/devices/stored-devices.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import type { ReceivedMail } from '#test/support/mail/mail-server.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import {
  passServedTime,
  passWatchedTime,
  stopJoiningHeartbeats,
} from '#test/support/numbers/pass-served-time.ts';
import { newMember } from '#test/support/people/people.ts';
import {
  type ConnectedNumber,
  connectNumber,
  heldPoll,
  newPhoneNumber,
} from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';
import { putWebhook } from '#test/support/webhooks/make-webhooks.ts';
import { writtenDeliveries } from '#test/support/webhooks/stored-deliveries.ts';

const minuteMs = 60_000;

describe('the health of numbers (specification section 4.7)', () => {
  // No sweep runs in the background: the test calls the round that watches the numbers.
  const service = givenService({ ROLES: 'api' });
  const team = givenEach(() => service.newTeam({ plan: 'free' }));
  const number = givenEach(() => connectNumber(service, team, newPhoneNumber()));
  beforeEach(() => number.wire.poll());

  const health = async () =>
    (await team.api.get(`/v1/numbers/${number.numberId}`)).json.health as unknown as NumberHealth;
  const events = async () =>
    (await storedEvents(service, { teamId: team.id })).map(({ body }) => JSON.parse(body) as Event);
  const eventTypes = async () => (await events()).map(({ type }) => type);

  it('a number is online, late after 90 seconds, offline after 5 minutes, and online with the next poll (§4.7/states)', async () => {
    const seenAt = (await health()).last_seen_at;
    await passServedTime(service, 80_000);
    assert.equal((await health()).state, 'online');
    await passServedTime(service, 20_000);
    assert.deepEqual([(await health()).state, (await health()).cause], ['late', null]);
    await passServedTime(service, 190_000);
    assert.equal((await health()).state, 'late');
    await passServedTime(service, 20_000);
    const offline = await health();
    assert.deepEqual(
      [offline.state, offline.cause, offline.last_seen_at],
      ['offline', 'no_power_or_network', seenAt],
    );
    assert.match(offline.advice, /Low Power Mode/);
    await number.wire.poll();
    assert.deepEqual([(await health()).state, (await health()).advice], ['online', '']);
  });

  it('a number that goes offline and returns makes one number.offline and one number.online event, however many processes check it (§4.7/events, §6.1/one-per-change)', async () => {
    const put = async (types: Parameters<typeof putWebhook>[2], options = {}) =>
      (await putWebhook(service, team.id, types, options)).id;
    const named = await put(['number.offline', 'number.online']);
    const own = await put(['number.offline'], { phoneNumber: number.phoneNumber });
    await put(['message.sent']);
    await put(['number.offline'], { phoneNumber: newPhoneNumber() });
    await team.api.put(`/v1/numbers/${number.numberId}`, { label: 'Support' });
    await team.api.send({ from: number.phoneNumber, to: '+14155550101', content: 'Hello' });
    const lastSeenAt = (await health()).last_seen_at;
    await passServedTime(service, 5 * minuteMs + 10_000);
    await Promise.all([1, 2, 3, 4].map(() => watchNumbers(service.runtime)));
    await passWatchedTime(service, 10 * minuteMs);
    const [offline, ...more] = await events();
    assert.deepEqual(more, []);
    assert.deepEqual([offline?.type, offline?.sequence], ['number.offline', 1]);
    assert.deepEqual(offline?.data, {
      id: number.numberId,
      phone_number: number.phoneNumber,
      label: 'Support',
      last_seen_at: lastSeenAt,
      queued: 1,
    });
    const sinceMs = Date.parse((await health()).since);
    assert.ok(Math.abs(sinceMs - Date.parse(offline?.timestamp ?? '')) < 1_000);
    const got = (await writtenDeliveries(service, team.id)).map(({ webhookId }) => webhookId).sort();
    assert.deepEqual(got, [named, own].sort());

    await number.wire.poll();
    await Promise.all([1, 2, 3, 4].map(() => watchNumbers(service.runtime)));
    const online = (await events()).slice(1);
    assertEach(online, ({ type, sequence, data }) => [type, sequence, (data as { queued: number }).queued], [
      ['number.online', 2, 0],
    ]);
    assert.ok(Date.parse((await health()).since) > sinceMs);
  });

  it('a health check that fails halfway neither loses nor repeats an event (§4.7/events)', async () => {
    await putWebhook(service, team.id, ['number.offline']);
    const other = await service.newTeam();
    await connectNumber(service, other, newPhoneNumber());
    const refusal = await refuseInsertsOf(service, team.id, 'due_deliveries');
    await passWatchedTime(service, 6 * minuteMs);
    assert.deepEqual(await eventTypes(), []);
    assert.equal((await storedEvents(service, { teamId: other.id })).length, 1, 'other teams do not wait');
    await refusal.end();
    await watchNumbers(service.runtime);
    await watchNumbers(service.runtime);
    assert.deepEqual(await eventTypes(), ['number.offline']);
  });

  it('time in which no server answers polls does not count as silence (§4.7/served-time)', async () => {
    await passWatchedTime(service, 4 * minuteMs);
    service.clock.advance(60 * minuteMs);
    await watchNumbers(service.runtime);
    await new PollService(service.runtime).record();
    await watchNumbers(service.runtime);
    assert.equal((await health()).state, 'late', 'it was not seen for an hour, and may be back any moment');
    await passWatchedTime(service, 4 * minuteMs);
    await number.wire.poll();
    await passWatchedTime(service, 4 * minuteMs);
    assert.deepEqual(await eventTypes(), []);
    await passWatchedTime(service, 2 * minuteMs);
    assert.deepEqual(await eventTypes(), ['number.offline']);
  });

  it('a phone’s measured silence does not grow while all processes restart every few seconds (§4.7/served-time)', async () => {
    await stopJoiningHeartbeats(service);
    const steady = new PollService(service.runtime);
    const passRestarts = async (others: readonly PollService[]) => {
      for (let leftMs = 7 * minuteMs; leftMs > 0; leftMs -= 9_000) {
        service.clock.advance(9_000);
        const restarted = new PollService(service.runtime);
        await Promise.all([restarted, ...others].map((process) => process.record()));
        await watchNumbers(service.runtime);
      }
    };
    await passRestarts([]);
    assert.equal((await health()).state, 'late');
    assert.deepEqual(await eventTypes(), []);
    await steady.record();
    await passRestarts([steady]);
    assert.deepEqual(await eventTypes(), ['number.offline']);
  });

  it('an offline number stays offline during and after an outage of the server, until its phone polls (§4.7/served-time)', async () => {
    await passWatchedTime(service, 6 * minuteMs);
    service.clock.advance(60 * minuteMs);
    await passWatchedTime(service, 15_000);
    assert.equal((await health()).state, 'offline');
    assert.equal((await health()).cause, 'automation_stopped');
    assert.deepEqual(await eventTypes(), ['number.offline']);
  });

  it('a pending or deleted number has no health events, and a paused number has them (§4.7/which-numbers)', async () => {
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    const other = await service.newTeam();
    await other.api.post('/v1/numbers/verify', { phone_number: '+14155550999' });
    const deleted = await connectNumber(service, other, newPhoneNumber());
    await other.api.delete(`/v1/numbers/${deleted.numberId}`);
    await passWatchedTime(service, 6 * minuteMs);
    assert.deepEqual(await eventTypes(), ['number.offline']);
    assert.deepEqual(await storedEvents(service, { teamId: other.id }), []);
    const shown = (await other.api.get('/v1/numbers')).json.numbers as { id: string }[];
    const pending = (await other.api.get(`/v1/numbers/${shown[0]?.id}`)).json;
    const { state, since, last_seen_at, cause } = pending.health as unknown as NumberHealth;
    assert.deepEqual(
      [state, since, last_seen_at, cause],
      ['pending', pending.created_at, null, 'setup_link_unopened'],
    );
  });

  it('the likely cause depends on the last action of the phone: it took a message, or it disconnected', async () => {
    const polling = await heldPoll(service, number);
    polling.leave();
    await until(
      'the server noticed',
      async () => (await findDeviceSession(service, number.phoneNumber))?.hasLeft,
    );
    await passServedTime(service, 6 * minuteMs);
    assert.equal((await health()).cause, 'stopped_while_waiting');
    await team.api.send({ from: number.phoneNumber, to: '+14155550101', content: 'Hello' });
    assert.equal((await number.wire.poll()).action, 'send');
    await passServedTime(service, 6 * minuteMs);
    const { cause, advice } = await health();
    assert.equal(cause, 'stopped_after_message');
    assert.match(advice, /Allow Running When Locked/);
  });
});

const appUrl = 'https://texts.example.com';

describe('mails about silent numbers (specification section 4.7)', () => {
  let number: ConnectedNumber;
  // No sweep runs in the background: the test calls the round that watches the numbers.
  const { mail: server, service } = givenMailService({ APP_URL: appUrl, ROLES: 'api,deliver' });
  const team = givenEach(() => service.newTeam());
  const owner = givenEach(() => newMember(service, team, 'owner'));
  beforeEach(async () => {
    await newMember(service, team, 'member');
    number = await connect('Support');
  });

  async function connect(label: string): Promise<ConnectedNumber> {
    const connected = await connectNumber(service, team, newPhoneNumber());
    await connected.wire.poll();
    await team.api.put(`/v1/numbers/${connected.numberId}`, { label });
    return connected;
  }
  const nextMail = async (): Promise<ReceivedMail> => {
    const mail = await server.next();
    return mail.to.includes(owner.email) ? mail : nextMail();
  };
  const mailCount = async () => (await storedMails(service, owner.email)).length;

  it('owners and admins get one mail when an iPhone falls silent, and one when it is back (§4.7/mail)', async () => {
    const admin = await newMember(service, team, 'admin');
    await team.api.send({ from: number.phoneNumber, to: '+14155550101', content: 'Hello' });
    await passWatchedTime(service, 5 * minuteMs + 15_000);
    assert.equal(await mailCount(), 0, 'others may follow within the minute');
    await passWatchedTime(service, minuteMs + 15_000);
    await Promise.all([1, 2, 3].map(() => watchNumbers(service.runtime)));
    assert.equal((await storedMails(service, admin.email)).length, 1);
    const mail = await nextMail();
    assert.equal(mail.parsed.subject, 'Support is offline');
    for (const said of [
      /“Test iPhone”, in the team Example team has not asked for messages since \d\d:\d\d UTC on /,
      /One message waits for it\. Waiting messages go out once the iPhone is back\. .* over 24 hours/,
      /may have no power or no network/,
      /Low Power Mode is off/,
      `${appUrl}/teams/${team.publicId}/numbers/${number.numberId}#checks`,
    ])
      assert.ok(typeof said === 'string' ? mail.text.includes(said) : said.test(mail.text), `${said}`);
    await passWatchedTime(service, 70 * minuteMs);
    assert.equal(await mailCount(), 1);
    await number.wire.poll();
    await passWatchedTime(service, 80_000);
    assert.equal(await mailCount(), 2);
    const back = await nextMail();
    assert.equal(back.parsed.subject, 'Support is back');
    assert.match(back.text, /asks for messages again\. Messages that waited go out now/);
  });

  it('numbers that fall silent together are in one mail', async () => {
    const sales = await connect('Sales');
    await number.wire.poll();
    await passWatchedTime(service, 30_000);
    await sales.wire.poll();
    await passWatchedTime(service, 7 * minuteMs);
    assert.equal(await mailCount(), 1);
    const mail = await nextMail();
    assert.equal(mail.parsed.subject, '2 iPhones of Example team are offline');
    for (const said of [/Support \(\+1 /, /Sales \(\+1 /, /fell silent together/])
      assert.match(mail.text, said);
  });

  it('a number that goes offline repeatedly is in one mail an hour, and in one more if it stays offline', async () => {
    const goesOffline = () => passWatchedTime(service, 7 * minuteMs);
    const comesBack = async () => {
      await number.wire.poll();
      await passWatchedTime(service, 80_000);
    };
    await goesOffline();
    assert.equal(await mailCount(), 1);
    await comesBack();
    assert.equal(await mailCount(), 2);
    await goesOffline();
    await comesBack();
    await goesOffline();
    assert.equal(await mailCount(), 2, 'no second one about its silence within the hour');
    await passWatchedTime(service, 60 * minuteMs);
    assert.equal(await mailCount(), 3, 'it stayed away');
  });

  it('a paused number is in no mail until it is resumed (§4.7/which-numbers)', async () => {
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    await passWatchedTime(service, 9 * minuteMs);
    assert.equal(await mailCount(), 0);
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    await watchNumbers(service.runtime);
    assert.equal(await mailCount(), 1);
  });
});
