import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { publicId } from '#server/platform/ids.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { newMember } from '#test/support/people/people.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { dropAttempts, dropEvent } from '#test/support/webhooks/given-due-deliveries.ts';
import { attemptsOf, deliveriesOf, settled } from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';
import { answering, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

describe('the tenth failure in a row (§6.3/failure-count)', () => {
  const receiver = given(startWebhookReceiver);
  const { mail, service } = givenMailService({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8' });

  it('the tenth of 50 simultaneous failures disables a webhook, and owners and admins get one mail (§3.4/enable-and-disable)', async () => {
    const team = await service.newTeam();
    const { id: teamId } = team;
    const owner = await newMember(service, team, 'owner');
    const admin = await newMember(service, team, 'admin');
    await newMember(service, team, 'member');
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    const open: ServerResponse[] = [];
    receiver.behave((answer) => open.push(answer));
    await emit(
      service.runtime,
      teamId,
      Array.from({ length: 50 }, (_, n) => `event ${n}`),
    );
    await until('50 run at once', () => open.length === 50);
    for (const answer of open) answer.writeHead(500).end();
    await until('all are in the log', async () => (await attemptsOf(service, webhook)).length === 50);
    const state = await stateOf(service, webhook);
    assert.deepEqual([state.isActive, state.failureCount, state.disabledBy], [false, 10, 'failures']);
    assert.equal((await attemptsOf(service, webhook)).filter(({ isCounted }) => isCounted).length, 10);
    assert.deepEqual(
      [...new Set((await deliveriesOf(service, webhook)).map(({ status }) => status))],
      ['skipped'],
    );

    const recipients = [(await mail.next()).to, (await mail.next()).to].flat().sort();
    assert.deepEqual(recipients, [owner.account.email, admin.account.email].sort());
    const [message] = mail.received;
    assert.match(String(message?.text), /10 attempts in a row/);

    // Waits until both mails are recorded as sent. Otherwise they would be sent again after their lease.
    await until('both are written down', async () => {
      return (await storedMails(service)).every(({ body }) => body === null);
    });
    service.clock.advance(3_600_000);
    await emit(service.runtime, teamId, ['while it is off']);
    // This delivery is made last, and waits behind the others in the queue. Once it has arrived, the others have
    // ended.
    const proof = await addWebhook(service.runtime, (await service.newTeam()).id, receiver.url);
    receiver.behave(answering(200));
    await emit(service.runtime, proof.teamId, ['proof']);
    await settled(service, proof);
    assert.equal(receiver.received.length, 51, 'the 50 and the proof');
    assert.equal(mail.received.length, 2);

    const enabled = await team.api.put(`/v1/webhooks/${publicId('wh', webhook.id)}`, { active: true });
    assert.equal(enabled.status, 200, enabled.text);
    await emit(service.runtime, teamId, ['on again']);
    await receiver.count(52);
    await settled(service, webhook);
    const again = await stateOf(service, webhook);
    assert.deepEqual([again.isActive, again.failureCount], [true, 0]);
  });

  it('the two requests in the mail, run in a shell, enable the webhook and replay all missed deliveries', async () => {
    const team = await service.newTeam();
    const { id: teamId } = team;
    const owner = await newMember(service, team, 'owner');
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    receiver.behave(answering(200));
    await emit(service.runtime, teamId, ['taken']);
    await settled(service, webhook);
    service.clock.advance(1_000);
    receiver.behave(answering(500));
    // One delivery fails for good before the others fail.
    await emit(service.runtime, teamId, ['given up']);
    for (const attempts of [2, 3, 4, 5]) {
      await until(
        `${attempts} attempts`,
        async () => (await attemptsOf(service, webhook)).length === attempts,
      );
      service.clock.advance(300_000);
    }
    await emit(service.runtime, teamId, ['a', 'b', 'c', 'd', 'e', 'f']);
    await until('it is off', async () => !(await stateOf(service, webhook)).isActive);
    service.clock.advance(60_000);
    await emit(service.runtime, teamId, ['while it is off']);
    const message = await until('the mail came', () =>
      mail.received.find(({ to }) => to?.includes(owner.account.email)),
    );
    const text = String(message.text);
    assert.deepEqual(
      [...new Set(text.match(/https?:[^'\s]+\/webhooks\//g))],
      [`${service.baseUrl}/v1/webhooks/`, `${service.baseUrl}/teams/${publicId('team', teamId)}/webhooks/`],
    );

    const key = await service.makeKey(teamId, ['webhooks:manage']);
    const calls = text.slice(text.indexOf('KEY='), text.lastIndexOf("}'") + 2);
    const before = receiver.received.length;
    receiver.behave(answering(200));
    const { stdout } = await promisify(execFile)('sh', ['-ec', calls.replace('own_live_your_key', key.key)]);
    assert.match(stdout, /"queued":8/);
    await receiver.count(before + 8);
    await settled(service, webhook);
    const deliveries = await deliveriesOf(service, webhook);
    assertEach(deliveries, ({ status }) => status, Array(9).fill('succeeded'));
    assert.equal((await stateOf(service, webhook)).isActive, true);
  });

  it('nine failures, a success and nine more failures do not disable the webhook', async () => {
    const { id: teamId } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    const statuses = [...Array(9).fill(500), 200, ...Array(9).fill(500)];
    for (const [place, status] of statuses.entries()) {
      receiver.behave(answering(status));
      await emit(service.runtime, teamId, [`event ${place}`]);
      await until('it is in the log', async () => (await attemptsOf(service, webhook)).length === place + 1);
    }
    const state = await stateOf(service, webhook);
    assert.deepEqual([state.isActive, state.failureCount], [true, 9]);
  });

  it('failures of attempts that began before the webhook was last enabled do not count', async () => {
    const { id: teamId, api } = await service.newTeam();
    const webhook = await addWebhook(service.runtime, teamId, receiver.url);
    const open: ServerResponse[] = [];
    receiver.behave((answer) => open.push(answer));
    await emit(service.runtime, teamId, ['a', 'b']);
    await until('both run', () => open.length === 2);
    const enabled = await api.put(`/v1/webhooks/${publicId('wh', webhook.id)}`, { active: true });
    assert.equal(enabled.status, 200, enabled.text);
    open[0]?.writeHead(500).end();
    open[1]?.writeHead(200).end();
    const attempts = await until('both are in the log', async () => {
      const rows = await attemptsOf(service, webhook);
      return rows.length === 2 && rows;
    });
    assertEach(attempts, ({ isCounted }) => isCounted, [false, false]);
    assert.equal((await stateOf(service, webhook)).failureCount, 0);
    const statuses = (await deliveriesOf(service, webhook)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, ['pending', 'succeeded'], 'the receiver has the one all the same');
  });
});

describe('manual attempts, replay and rotation, end to end (specification sections 4.4 and 6.4)', () => {
  let path: string;
  const receiver = given(startWebhookReceiver);
  const service = givenWebhookService();
  const team = given(() => service.newTeam());
  const webhook = given(() => addWebhook(service.runtime, team.id, receiver.url));

  before(async () => {
    path = `/v1/webhooks/${publicId('wh', webhook.id)}`;
  });

  const latest = () => {
    const delivery = receiver.received.at(-1);
    if (!delivery) throw new Error('the receiver got no request');
    const { headers, body } = delivery;
    return { headers: headers as Record<string, string>, text: body.toString('utf8') };
  };
  async function redeliver(id: string): Promise<void> {
    const made = (await attemptsOf(service, webhook)).length;
    const answer = await team.api.post(`${path}/deliveries/${publicId('dlv', id as never)}/redeliver`);
    assert.equal(answer.status, 202, answer.text);
    await until('it is in the log', async () => (await attemptsOf(service, webhook)).length === made + 1);
  }

  it('a test is signed and has the header of a test, and its failure does not count', async () => {
    receiver.behave(answering(500));
    assert.equal((await team.api.post(`${path}/test`)).status, 202);
    await receiver.count(1);
    await settled(service, webhook);
    const { headers, text } = latest();
    assert.equal(headers['x-service-test'], '1');
    new Webhook(webhook.secret).verify(text, headers);
    const [delivery] = await deliveriesOf(service, webhook);
    assert.deepEqual([delivery?.status, delivery?.attemptCount], ['failed', 1]);
    assert.equal((await stateOf(service, webhook)).failureCount, 0);
  });

  it('a delivery that succeeded keeps this status if its redelivery fails', async () => {
    receiver.behave(answering(200));
    await emit(service.runtime, team.id, ['Hello']);
    await settled(service, webhook);
    const delivered = (await deliveriesOf(service, webhook)).at(-1);
    receiver.behave(answering(500));
    await redeliver(delivered?.id ?? '');
    const after = (await deliveriesOf(service, webhook)).at(-1);
    assert.deepEqual([after?.status, after?.attemptCount], ['succeeded', 2]);
    assert.equal((await stateOf(service, webhook)).failureCount, 0);
  });

  it('a delivery that succeeded keeps that status after its attempts are purged, and no replay sends it again', async () => {
    const since = service.clock.now().toISOString();
    receiver.behave(answering(200));
    await emit(service.runtime, team.id, ['Taken, and forgotten']);
    await settled(service, webhook);
    const last = async () => (await deliveriesOf(service, webhook)).at(-1);
    await dropAttempts(service);
    receiver.behave(answering(500));
    await redeliver((await last())?.id ?? '');
    assert.deepEqual([(await last())?.status, (await last())?.attemptCount], ['succeeded', 2]);
    const replayed = await team.api.post(`${path}/replay`, { since, only: 'all' });
    assert.deepEqual([replayed.status, replayed.json.queued], [202, 0]);
  });

  it('redelivering a delivery whose event was deleted sends nothing and leaves it succeeded', async () => {
    receiver.behave(answering(200));
    await emit(service.runtime, team.id, ['Taken, and deleted']);
    await settled(service, webhook);
    const last = async () => (await deliveriesOf(service, webhook)).at(-1);
    const taken = await last();
    assert.ok(taken);
    await dropEvent(service, taken.eventId);
    const before = receiver.received.length;
    const answer = await team.api.post(`${path}/deliveries/${publicId('dlv', taken.id)}/redeliver`);
    assert.equal(answer.status, 202, answer.text);
    await settled(service, webhook);
    assert.equal(receiver.received.length, before);
    assert.deepEqual([(await last())?.status, (await last())?.attemptCount], ['succeeded', 1]);
  });

  it('a replay delivers skipped events once, and none that succeeded (§6.4/replay-and-rotation)', async () => {
    assert.equal((await team.api.put(path, { active: false })).status, 200);
    await emit(service.runtime, team.id, ['missed 1', 'missed 2', 'missed 3']);
    assert.equal((await team.api.put(path, { active: true })).status, 200);
    const before = receiver.received.length;
    const since = new Date(service.clock.nowMs() - 3_600_000).toISOString();
    const replay = await team.api.post(`${path}/replay`, { since, only: 'skipped' });
    assert.deepEqual([replay.status, replay.json.queued], [202, 3]);
    await receiver.count(before + 3);
    await settled(service, webhook);
    const contents = receiver.received
      .slice(before)
      .map(({ body }) => JSON.parse(body.toString('utf8')).data.content);
    assert.deepEqual(contents.sort(), ['missed 1', 'missed 2', 'missed 3']);
    const again = await team.api.post(`${path}/replay`, { since, only: 'skipped' });
    assert.equal(again.json.queued, 0);
  });
});
