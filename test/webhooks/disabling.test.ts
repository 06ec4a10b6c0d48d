import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { publicId } from '#server/platform/ids.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { newMember } from '#test/support/people/people.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { attemptsOf, deliveriesOf, settled } from '#test/support/webhooks/stored-deliveries.ts';
import { stateOf } from '#test/support/webhooks/stored-webhooks.ts';
import { answering, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, emit } from '#test/support/webhooks/webhook-world.ts';

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
