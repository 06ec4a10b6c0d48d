import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failExpired } from '#server/messages/sweep-messages.ts';
import { passServedTime } from '#test/support/numbers/pass-served-time.ts';
import type { DirectPhone } from '#test/support/phones/direct-phone.ts';
import { contactAt, givenPacedTeam } from '#test/support/phones/phone-team.ts';
import { type ConnectedNumber, heldPoll } from '#test/support/phones/test-phone.ts';

const hourMs = 3_600_000;
const noGap = { gap_min_seconds: 0, gap_max_seconds: 0 };

describe('a message that waits for pacing (specification sections 3.2 and 4.3)', () => {
  const paced = givenPacedTeam();
  const { service, team } = paced;

  const sent = async (number: ConnectedNumber, phone: DirectPhone, contact: number) => {
    const id = await paced.send(number, contact);
    assert.equal(await phone.send(service.runtime), id);
  };
  const waiting = async (id: string) => {
    const { status, waiting_reason, expected_at } = (await team.api.get(`/v1/messages/${id}`)).json;
    assert.equal(status, 'queued');
    const inMs = expected_at === null ? null : Date.parse(String(expected_at)) - service.clock.nowMs();
    return { reason: waiting_reason, inMs };
  };
  const assertIn = (inMs: number | null, expectedMs: number) =>
    assert.ok(inMs !== null && Math.abs(inMs - expectedMs) < 2_000, `in ${inMs} ms, not ${expectedMs}`);

  it('a message that pacing delays shows the reason (gap, hourly or daily limit) and its expected time (§4.3/waiting-reason)', async () => {
    const { number, phone } = await paced.connect({
      gap_min_seconds: 60,
      gap_max_seconds: 60,
      messages_per_hour: 2,
    });
    await sent(number, phone, 1);
    const [next, behind] = [await paced.send(number, 1), await paced.send(number, 2)];
    const gap = await waiting(next);
    assert.equal(gap.reason, 'pacing_gap');
    assertIn(gap.inMs, 60_000);
    const ahead = await waiting(behind);
    assert.equal(ahead.reason, 'earlier_message');
    assertIn(ahead.inMs, hourMs);
    service.clock.advance(61_000);
    assert.equal(await phone.send(service.runtime), next);
    const hour = await waiting(behind);
    assert.equal(hour.reason, 'pacing_hour');
    assertIn(hour.inMs, hourMs - 61_000);
    await team.api.put(`/v1/numbers/${number.numberId}`, { pacing: { messages_per_day: 2 } });
    const day = await waiting(behind);
    assert.equal(day.reason, 'pacing_day');
    assertIn(day.inMs, 24 * hourMs - 61_000);
    await team.api.put(`/v1/numbers/${number.numberId}`, { pacing: { mode: 'off' } });
    assert.deepEqual(await waiting(behind), { reason: null, inMs: null });
  });

  it('waiting_reason is the limit of new contacts or the missing reply, unless the number is paused or the phone offline (§4.3/waiting-reason)', async () => {
    const limits = { new_contacts_per_hour: 1, unanswered_per_contact: 1 };
    const { number, phone } = await paced.connect({ mode: 'strict', ...noGap, ...limits });
    await sent(number, phone, 1);
    const unanswered = await paced.send(number, 1);
    const opening = await paced.send(number, 2);
    assert.deepEqual(await waiting(unanswered), { reason: 'pacing_unanswered', inMs: null });
    const held = await waiting(opening);
    assert.equal(held.reason, 'pacing_new_contacts');
    assertIn(held.inMs, hourMs);
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'paused' });
    assert.deepEqual(await waiting(opening), { reason: 'number_paused', inMs: null });
    await team.api.put(`/v1/numbers/${number.numberId}`, { status: 'active' });
    await passServedTime(service, 6 * 60_000);
    assert.deepEqual(await waiting(opening), { reason: 'phone_offline', inMs: null });
  });

  it('under strict pacing a message to a new contact waits for those to other new contacts, and one to a known contact does not', async () => {
    const limits = { new_contacts_per_hour: 1, new_contacts_per_day: 2, unanswered_per_contact: 2 };
    const { number, phone } = await paced.connect({ mode: 'strict', ...noGap, ...limits });
    await sent(number, phone, 1);
    for (const [contact, hours] of [
      [2, 1],
      [3, 24],
      [4, 25],
    ] as const)
      assertIn((await waiting(await paced.send(number, contact))).inMs, hours * hourMs);
    const behind = await paced.send(number, 3);
    assertIn((await waiting(behind)).inMs, 24 * hourMs);
    assert.equal((await waiting(await paced.send(number, 3))).inMs, null, 'it needs a reply');
    const known = await paced.send(number, 1);
    assert.equal((await waiting(known)).inMs, null, 'it may go now');
    assert.equal((await waiting(await paced.send(number, 1))).inMs, null, 'it needs a reply');
    assert.equal(await phone.send(service.runtime), known);
  });

  it('messages that wait for a reply under strict pacing do not delay messages to other contacts', async () => {
    const limits = { messages_per_hour: 3, unanswered_per_contact: 1 };
    const { number, phone } = await paced.connect({ mode: 'strict', ...noGap, ...limits });
    for (const contact of [1, 2]) await sent(number, phone, contact);
    await number.wire.call('inbound', { from: contactAt(2), text: 'Hi' });
    for (let sends = 0; sends < 3; sends += 1) await paced.send(number, 1);
    const id = await paced.send(number, 2);
    assert.equal((await waiting(id)).inMs, null, 'it may go now');
    assert.equal(await phone.send(service.runtime), id);
  });

  it('a message that pacing delays expires only after the phone was away, or the number paused, for the whole expiry time (§3.2/expired)', async () => {
    const { number, phone } = await paced.connect({ messages_per_day: 1 });
    await sent(number, phone, 1);
    const id = await paced.send(number, 1);
    const body = { from: number.phoneNumber, to: contactAt(2), content: 'Look' };
    const media = { ...body, media_url: 'https://example.com/picture.png' };
    const withMedia = (await team.api.post('/v1/messages/send', media)).json.id;
    const statusOf = async () => (await team.api.get(`/v1/messages/${id}`)).json.status;
    await team.api.put(`/v1/numbers/${number.numberId}`, {
      pacing: { messages_per_day: 1, gap_min_seconds: 3_600, gap_max_seconds: 3_600 },
    });
    service.clock.advance(23 * hourMs);
    await (await heldPoll(service, number)).leaveNoticed();
    service.clock.advance(2 * hourMs);
    await failExpired(service.runtime);
    assert.equal(await statusOf(), 'queued', 'older than a day, and the phone polled two hours ago');
    const { error_code } = (await team.api.get(`/v1/messages/${withMedia}`)).json;
    assert.equal(error_code, 'expired', 'it waits for its media, not for pacing');
    const paused = await paced.connect({ messages_per_day: 1 });
    await sent(paused.number, paused.phone, 1);
    const pausedId = await paced.send(paused.number, 1);
    await team.api.put(`/v1/numbers/${paused.number.numberId}`, { status: 'paused' });
    service.clock.advance(22 * hourMs + 1);
    await failExpired(service.runtime);
    assert.equal(await statusOf(), 'failed', 'the phone is away for a day');
    service.clock.advance(2 * hourMs);
    await failExpired(service.runtime);
    assert.equal((await team.api.get(`/v1/messages/${pausedId}`)).json.error_code, 'expired');
  });

  it('a message whose number is no longer paced expires, although the phone polls (§3.2/expired)', async () => {
    const { number, phone } = await paced.connect({ messages_per_day: 1 });
    await sent(number, phone, 1);
    const id = await paced.send(number, 1);
    service.clock.advance(23 * hourMs);
    await (await heldPoll(service, number)).leaveNoticed();
    await team.api.put(`/v1/numbers/${number.numberId}`, { pacing: { mode: 'off' } });
    service.clock.advance(2 * hourMs);
    await failExpired(service.runtime);
    assert.equal((await team.api.get(`/v1/messages/${id}`)).json.error_code, 'expired');
  });
});
