import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Timeline, TimelineStep } from '#contract/timeline.ts';
import { receive, sendNext, sendNextByShortcut } from '#test/support/dashboard/conversations.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { newWebhook } from '#test/support/webhooks/make-webhooks.ts';
import { answering, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

describe('GET /app/teams/:team_id/messages/:id/timeline', () => {
  const service = givenWebhookService();
  const team = given(() => service.newTeam());
  const owner = given(() => newMember(service, team, 'owner', { name: 'Ada Example' }));
  const viewer = given(() => newMember(service, team, 'viewer'));
  const number = given(() => connectNumber(service, team, '+14155550100'));
  let contacts = 100;

  /** Makes a contact that no other test of this file writes to. */
  function newContact(): string {
    contacts += 1;
    return `+14155552${contacts}`;
  }

  async function sendAs(member: TeamMember, to: string): Promise<string> {
    const body = { from: number.phoneNumber, to, content: 'Your table is ready.' };
    const answer = await member.post(member.in('/messages/send'), body);
    assert.equal(answer.status, 202, answer.text);
    return String(answer.json.id);
  }

  async function timelineOf(id: string, member = viewer): Promise<Timeline> {
    const answer = await member.get(member.in(`/messages/${id}/timeline`));
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as Timeline;
  }

  const named = ({ steps }: Timeline) =>
    steps.map(
      ({ kind, actor }: TimelineStep) => `${kind} by ${actor ? `${actor.kind} ${actor.name}` : 'unknown'}`,
    );

  it('a timeline has the message, its sender, its steps, and its events with deliveries and attempts', async () => {
    const receiver = await startWebhookReceiver({ behaviour: answering(200, 'thanks') });
    const webhook = await newWebhook(team.api, {
      url: receiver.url,
      events: ['message.sent', 'message.delivered'],
    });
    const deleted = await newWebhook(team.api, { events: ['message.sent'] });
    // The webhook is off, so its delivery is skipped. A pending delivery would be deleted with the webhook.
    await team.api.request('PUT', `/v1/webhooks/${deleted.id}`, { body: { active: false } });
    const to = newContact();
    const { json: contact } = await team.api.post('/v1/contacts', { name: 'Bob Example', handles: [to] });
    const id = await sendAs(owner, to);
    assert.equal((await number.wire.poll()).id, id);
    await number.wire.call('status', { id, status: 'delivered' });
    assert.equal((await team.api.delete(`/v1/webhooks/${deleted.id}`)).status, 200);
    await receiver.count(2);
    const timeline = await until('both deliveries have succeeded', async () => {
      const read = await timelineOf(id);
      const own = read.events.flatMap(({ deliveries }) => deliveries);
      return own.filter(({ status }) => status === 'succeeded').length === 2 && read;
    });
    await receiver.close();
    assert.deepEqual(timeline.message, (await team.api.get(`/v1/messages/${id}`)).json);
    assert.deepEqual([timeline.name, timeline.message.contact_id], ['Bob Example', contact.id]);
    assert.deepEqual(timeline.sender, { kind: 'member', id: owner.memberId, name: 'Ada Example' });
    assert.deepEqual(named(timeline), [
      'accepted by member Ada Example',
      'handed_out by device Test iPhone',
      'sent by device Test iPhone',
      'delivered by device Test iPhone',
    ]);
    assertEach(
      timeline.events,
      ({ event, more_deliveries }) => [event.type, event.sequence, more_deliveries],
      [
        ['message.sent', 1, false],
        ['message.delivered', 2, false],
      ],
    );
    const own = timeline.events.map(({ deliveries }) =>
      deliveries.find(({ webhook_id }) => webhook_id === webhook.id),
    );
    for (const delivery of own) {
      assert.ok(delivery);
      assert.equal(delivery.url, receiver.url);
      const [attempt, ...more] = delivery.attempts;
      assert.deepEqual([attempt?.outcome, attempt?.status_code, more], ['succeeded', 200, []]);
      assert.ok(attempt && !('response_body' in attempt));
    }
    const gone = timeline.events[0]?.deliveries.find(({ webhook_id }) => webhook_id === deleted.id);
    assert.equal(gone?.url, null, 'a deleted webhook has no url');
  });

  it('a timeline shows whether the number’s device can report deliveries, and the shortcuts never can', async () => {
    const silent = await connectNumber(service, team, '+14155550187');
    const send = (content: string) => team.api.send({ from: silent.phoneNumber, to: newContact(), content });
    const reported = async (id: string) => {
      const { message, reports_delivery } = await timelineOf(id);
      return [message.status, reports_delivery];
    };
    const first = await send('Sent by a shortcut');
    assert.equal(await sendNextByShortcut(silent), first);
    assert.deepEqual(await reported(first), ['sent', false], 'another number of the team reports them');
    const second = await send('Sent by a device that can tell');
    assert.equal(await sendNext(silent), second);
    assert.deepEqual(await reported(second), ['delivered', true]);
    assert.deepEqual(await reported(first), ['sent', true], 'a later report may come');
    const inbound = await receive(silent, newContact(), 'Hello');
    assert.deepEqual(await reported(inbound), ['received', null]);
  });

  it('a timeline names the key of a message, even a revoked one, and /v1 shows no sender', async () => {
    const { id: keyId, key } = await service.makeKey(team.id, ['messages:send']);
    const client = new ApiClient(service.baseUrl, key);
    const id = await client.send({ from: number.phoneNumber, to: newContact(), content: 'Hello' });
    const before = await timelineOf(id);
    assert.deepEqual([before.sender?.kind, before.sender?.name], ['key', 'test']);
    assert.deepEqual(before.steps[0]?.actor, before.sender);
    const revoked = await owner.request('DELETE', owner.in(`/keys/${before.sender?.id}`));
    assert.equal(revoked.status, 200, `${keyId} ${revoked.text}`);
    assert.deepEqual((await timelineOf(id)).sender, before.sender);
    assert.ok(!('sender' in (await team.api.get(`/v1/messages/${id}`)).json));
    await team.api.post(`/v1/messages/${id}/cancel`);
  });

  it('a repeat with an Idempotency-Key keeps the sender of the first request', async () => {
    const body = { from: number.phoneNumber, to: newContact(), content: 'Once' };
    const headers = { 'idempotency-key': 'once' };
    const first = await owner.request('POST', owner.in('/messages/send'), { body, headers });
    const second = await team.api.request('POST', '/v1/messages/send', { body, headers });
    assert.equal(second.json.id, first.json.id);
    const { sender } = await timelineOf(String(first.json.id));
    assert.equal(sender?.id, owner.memberId);
    await team.api.post(`/v1/messages/${first.json.id}/cancel`);
  });

  it('a timeline and the audit log name the actor who cancelled a message (§12.6/audit-log)', async () => {
    const id = await team.api.send({ from: number.phoneNumber, to: newContact(), content: 'Hello' });
    const answer = await owner.post(owner.in(`/messages/${id}/cancel`));
    assert.equal(answer.status, 200, answer.text);
    const { steps } = await timelineOf(id);
    const failed = steps.at(-1);
    assert.partialDeepStrictEqual(failed, { kind: 'failed', details: { error_code: 'cancelled' } });
    assert.deepEqual(failed?.actor, { kind: 'member', id: owner.memberId, name: 'Ada Example' });
    const { json } = await owner.get(owner.in('/audit?limit=1'));
    const [entry] = json.entries as { action: string; target: string; actor: { id: string } }[];
    assert.deepEqual(
      [entry?.action, entry?.target, entry?.actor.id],
      ['message.cancelled', id, owner.memberId],
    );
  });

  it('a timeline names the actor who deleted the number of a waiting message', async () => {
    const other = await connectNumber(service, team, '+14155550111');
    const id = await team.api.send({ from: other.phoneNumber, to: newContact(), content: 'Hello' });
    await owner.request('DELETE', owner.in(`/numbers/${other.numberId}`));
    const failed = (await timelineOf(id)).steps.at(-1);
    assert.deepEqual([failed?.details.error_code, failed?.actor?.id], ['number_removed', owner.memberId]);
  });

  it('an opt-out by text is a step of its message, and the contact or caller is the actor of the failure', async () => {
    const [contact, other] = [newContact(), newContact()];
    const waiting = await team.api.send({ from: number.phoneNumber, to: contact, content: 'Hello' });
    const stop = await number.wire.call('inbound', { from: contact, text: 'STOP' });
    const received = await timelineOf(String(stop.id));
    assert.deepEqual(named(received), [`received by contact ${contact}`, `opted_out by contact ${contact}`]);
    assert.equal(received.sender, null);
    const failed = (await timelineOf(waiting)).steps.at(-1);
    assert.deepEqual([failed?.details.error_code, failed?.actor?.name], ['opted_out', contact]);

    const second = await team.api.send({ from: number.phoneNumber, to: other, content: 'Hello' });
    await owner.request('PUT', owner.in(`/opt-outs/${encodeURIComponent(other)}`));
    assert.equal((await timelineOf(second)).steps.at(-1)?.actor?.id, owner.memberId);
  });
});
