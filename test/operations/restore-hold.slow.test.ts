import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { AuditEntry } from '#contract/audit.ts';
import { resumeRestore } from '#server/dashboard/restore/resume-restore.ts';
import { recordRestore } from '#server/operations/record-restore.ts';
import { operator } from '#server/platform/actor.ts';
import { publicId } from '#server/platform/ids.ts';
import { findFirstTeam } from '#server/teams/team/team.ts';
import { startMailServer } from '#test/support/mail/mail-server.ts';
import { ask } from '#test/support/people/invite.ts';
import { newCookie, newMember, Person, TeamMember } from '#test/support/people/people.ts';
import { connectNumber, DeviceWire } from '#test/support/phones/test-phone.ts';
import { ApiClient, field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { startTestService, type TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { acceptedOf } from '#test/support/usage/stored-usage.ts';
import { newWebhook } from '#test/support/webhooks/make-webhooks.ts';
import { startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';

const metricsToken = 'example-metrics-token';
const contact = '+12125550100';

describe('the restore hold (specification section 10.8)', () => {
  let team: TestTeam;
  let owner: TeamMember;
  const mail = given(startMailServer);
  const receiver = given(startWebhookReceiver);
  // Before the backup, the service only accepts messages, so that all of them wait.
  const service = given(() =>
    startTestService({
      ROLES: 'api',
      SMTP_URL: mail.url,
      MAIL_FROM: 'texts@example.com',
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      METRICS_TOKEN: metricsToken,
    }),
  );

  before(async () => {
    const first = await findFirstTeam(service.runtime.database.pool);
    assert.ok(first);
    team = { id: first.id, publicId: publicId('team', first.id), api: await service.newKey(first.id, ['*']) };
    owner = await newMember(service, team, 'owner');
    const webhook = { url: receiver.url, events: ['message.received', 'message.failed'] };
    await newWebhook(team.api, webhook);
  });

  let guests = 0;
  const inviteGuest = async (api: ApiClient) => {
    guests += 1;
    const email = `guest${guests}@example.com`;
    assert.equal((await ask(api, email)).status, 201);
    return email;
  };

  /** Restores a backup with a waiting message, delivery and mail, and starts two processes on it. */
  const givenRestore = async () => {
    const number = await connectNumber(service, team);
    const content = { from: number.phoneNumber, to: contact, content: 'waits in the backup' };
    const message = await team.api.send(content);
    await number.wire.call('inbound', { from: contact, text: `to ${number.phoneNumber}` });
    const guest = await inviteGuest(team.api);
    const { database, clock } = service.runtime;
    await database.transaction((trx) =>
      recordRestore(trx, {
        restored_at: clock.now(),
        backup_taken_at: clock.in(-60_000),
        product_version: '0.1.0',
        schema_version: 16,
      }),
    );
    clock.advance(1_000);
    const processes = await Promise.all(
      ['api,deliver,maintain', 'api'].map((ROLES) => service.startAnother(undefined, { ROLES })),
    );
    const [{ baseUrl } = { baseUrl: '' }, other] = processes;
    const api = new ApiClient(baseUrl, team.api.key);
    const phone = new DeviceWire(baseUrl, number.wire.token);
    phone.session = number.wire.session;
    const cookie = await newCookie(service, owner.account);
    const person = new TeamMember(new Person(baseUrl, owner.account, cookie), team, owner.memberId);
    return {
      number,
      message,
      guest,
      baseUrl,
      otherUrl: other?.baseUrl ?? '',
      api,
      phone,
      owner: person,
      messageOf: async (id: string) => (await api.get(`/v1/messages/${id}`)).json,
      delivered: () => receiver.received.some(({ body }) => body.includes(`to ${number.phoneNumber}`)),
      mailed: (to: string) => mail.received.some((received) => received.to.includes(to)),
      close: () => Promise.all(processes.map((started) => started.close())),
    };
  };
  const restoreHoldOf = async (baseUrl: string) =>
    (await new ApiClient(baseUrl, '').get('/readyz')).json.restore_hold;

  /** Waits for a round of the job that begins after the call, and resolves once it has ended. */
  const round = async (baseUrl: string, job: string) => {
    const rounds = async () => {
      const headers = { authorization: `Bearer ${metricsToken}` };
      const { json } = await new ApiClient(baseUrl, '').request('GET', '/readyz?verbose', { headers });
      const jobs = json.jobs as readonly { readonly name: string; readonly last_success_at: string }[];
      return jobs.find(({ name }) => name === job)?.last_success_at;
    };
    const earlier = await rounds();
    await until(`a round of ${job}`, async () => (await rounds()) !== earlier);
  };

  it('messages, deliveries and mails of the backup wait until an owner resumes, and are then sent by all processes (§10.8/restore-hold)', async (context) => {
    const restored = await givenRestore();
    context.after(restored.close);
    const { api, phone, messageOf } = restored;
    assert.equal(await restoreHoldOf(restored.baseUrl), true);
    const figures = new ApiClient(restored.baseUrl, '').request('GET', '/metrics', {
      headers: { authorization: `Bearer ${metricsToken}` },
    });
    assert.match((await figures).text, /^ownline_restore_held 1$/m);
    assert.equal((await phone.poll()).action, 'idle');
    const later = await api.send({ from: restored.number.phoneNumber, to: contact, content: 'after it' });
    assert.equal((await phone.poll()).action, 'idle');
    for (const id of [restored.message, later])
      assert.equal((await messageOf(id)).waiting_reason, 'restore_hold');
    const guest = await inviteGuest(api);
    await until('the mail from after the restore arrives', async () => restored.mailed(guest));
    assert.equal(restored.mailed(restored.guest), false);
    for (const job of ['make deliveries', 'send mail']) await round(restored.baseUrl, job);
    assert.equal(restored.delivered(), false);
    assert.equal(restored.mailed(restored.guest), false);

    const state = await restored.owner.get(restored.owner.in('/restore'));
    // An API key made the invitation, so the owner gets a mail besides the guest's.
    assert.deepEqual(state.json.waiting, { messages: 1, deliveries: 1, mails: 2 });
    const resumed = await restored.owner.post(restored.owner.in('/restore/resume'), {});
    assert.deepEqual([resumed.status, resumed.json.held], [200, false]);
    assert.equal((await phone.poll()).id, restored.message);
    assert.equal((await phone.poll({ last: restored.message })).id, later);
    await until('the delivery arrives', async () => restored.delivered());
    await until('the mail arrives', async () => restored.mailed(restored.guest));
    await until('the other process goes on', async () => (await restoreHoldOf(restored.otherUrl)) === false);
    assert.equal((await restored.owner.post(restored.owner.in('/restore/resume'), {})).status, 200);
    const audit = (await restored.owner.get(restored.owner.in('/audit'))).json.entries as AuditEntry[];
    const entries = audit.filter(({ action }) => action === 'restore.resumed');
    assert.equal(entries.length, 1);
    assert.equal(entries[0]?.actor.name, owner.email);
  });

  it('resuming after a restore answers a phone’s held poll with its message', async (context) => {
    const restored = await givenRestore();
    context.after(restored.close);
    assert.equal((await restored.phone.poll()).action, 'idle');
    const [, answer] = await Promise.all([
      restored.owner.post(restored.owner.in('/restore/resume'), {}),
      until('it gets the message', async () => {
        const { id } = await restored.phone.poll();
        return id;
      }),
    ]);
    assert.equal(answer, restored.message);
  });

  it('resuming can cancel the backup’s messages, refund their quota, and skip the backup’s deliveries (§10.8/resume)', async (context) => {
    const restored = await givenRestore();
    context.after(restored.close);
    const { api, phone, messageOf, number } = restored;
    const accepted = await acceptedOf(service, team.id);
    const later = await api.send({ from: number.phoneNumber, to: contact, content: 'after it' });
    const choices = { cancel_messages: true, skip_deliveries: true };
    assert.equal((await restored.owner.post(restored.owner.in('/restore/resume'), choices)).status, 200);
    const { status, error_code } = await messageOf(restored.message);
    assert.deepEqual([status, error_code], ['failed', 'cancelled']);
    assert.equal(await acceptedOf(service, team.id), accepted);
    assert.equal((await phone.poll()).id, later);
    await until('the event of the cancellation arrives', async () =>
      receiver.received.some(({ body }) => body.includes(restored.message)),
    );
    assert.equal(restored.delivered(), false);
    const { webhooks } = (await api.get('/v1/webhooks')).json as { webhooks: readonly { id: string }[] };
    const skipped = await api.get(`/v1/webhooks/${webhooks[0]?.id}/deliveries?status=skipped`);
    assert.equal(field(skipped.json, 'deliveries.0.event_type'), 'message.received');
  });

  it('only owners of the first team can resume, and other members see only the time of the backup (§10.8/restore-hold)', async (context) => {
    const restored = await givenRestore();
    context.after(restored.close);
    const seen = async (member: TeamMember) => {
      const cookie = await newCookie(service, member.account);
      const person = new TeamMember(new Person(restored.baseUrl, member.account, cookie), member.team, '');
      const { json } = await person.get(person.in('/restore'));
      const resume = await person.post(person.in('/restore/resume'), {});
      return [json.held, json.may_resume, json.waiting, resume.status];
    };
    const another = await service.newTeam();
    assert.deepEqual(await seen(await newMember(service, another, 'owner')), [true, false, null, 403]);
    assert.deepEqual(await seen(await newMember(service, team, 'admin')), [true, false, null, 403]);
    assert.equal((await restored.owner.post(restored.owner.in('/restore/resume'), {})).status, 200);
  });

  it('no message expires during the restore hold, and after the resume those older than QUEUE_EXPIRY_HOURS expire (§10.8/restore-hold, §10.8/resume)', async (context) => {
    const restored = await givenRestore();
    context.after(restored.close);
    service.clock.advance(100 * 3_600_000);
    await round(restored.baseUrl, 'expire queued messages');
    assert.equal((await restored.messageOf(restored.message)).status, 'queued');
    await resumeRestore(service.runtime, operator, { cancelMessages: false, skipDeliveries: false });
    await until('it expires', async () => {
      const { error_code } = await restored.messageOf(restored.message);
      return error_code === 'expired';
    });
  });
});
