import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveOverdue } from '#server/messages/sweep-messages.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { findDeviceSession } from '#test/support/devices/stored-devices.ts';
import { claim, connectNumber, DeviceWire, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

describe('the life of a session: 60 s after its last answer, 25 s of them for the next poll’s hold (specification section 11.2)', () => {
  const { service, team } = givenTeam({ DEVICE_HOLD_SECONDS: '25', DEVICE_LEASE_SECONDS: '60' });

  const sessionOf = async (phone: string) => {
    const session = await findDeviceSession(service, phone);
    return `${session?.sessionId} ${session?.poll}`;
  };
  /** Polls until the hold ends. @throws if the poll is refused */
  const idlePoll = async (phone: string, wire: DeviceWire) => {
    const before = await sessionOf(phone);
    const answer = wire.poll();
    answer.catch(() => undefined);
    await until('the poll is counted', async () => (await sessionOf(phone)) !== before);
    service.clock.advance(25_000);
    assert.equal((await answer).action, 'idle');
  };
  /** Asserts that a session that was answered just now ends in 57 to 61 s. */
  const livesForSixtySeconds = async (phone: string, token: string) => {
    const starter = new DeviceWire(service.baseUrl, token);
    service.clock.advance(57_000);
    assert.equal((await starter.poll()).reason, 'already_running');
    service.clock.advance(4_000);
    await idlePoll(phone, starter);
  };

  it('a session lives for 60 s after an idle answer', async () => {
    const { phoneNumber: phone, wire } = await connectNumber(service, team);
    await idlePoll(phone, wire);
    await livesForSixtySeconds(phone, wire.token);
  });

  it('a session lives for 60 s after a hand-out, even if the hand-out answered the poll at once', async () => {
    const { phoneNumber: phone, wire } = await connectNumber(service, team);
    const id = await team.api.send({ from: phone, to: '+12125550100', content: 'at once' });
    assert.equal((await wire.poll()).id, id);
    await livesForSixtySeconds(phone, wire.token);
  });

  it('a takeover does not change the lease of a message in flight that ends within the next 180 s', async () => {
    const { phoneNumber, numberId, wire } = await connectNumber(service, team);
    const id = await team.api.send({ from: phoneNumber, to: '+12125550100', content: 'in doubt' });
    assert.equal((await wire.poll()).id, id);
    const { json } = await team.api.post(`/v1/numbers/${numberId}/reconnect`);
    const fresh = await claim(team.api, String(json.setup_url));
    await idlePoll(phoneNumber, fresh);
    service.clock.advance(35_000);
    await resolveOverdue(service.runtime);
    assert.equal((await team.api.get(`/v1/messages/${id}`)).json.error_code, 'device_timeout');
  });
});

const contact = '+12125550100';
const superseded = { action: 'stop', session: 'none', reason: 'superseded' };

describe('a session that no poll has used yet (specification section 11.2)', () => {
  // The hold outlasts these tests, so that no poll is answered because its hold ends.
  const { service, team } = givenTeam({ DEVICE_HOLD_SECONDS: '50' });

  const newPhone = async () => {
    const phoneNumber = newPhoneNumber();
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
    const wire = await claim(team.api, String(verify.json.setup_url));
    const sessionOf = async () => (await findDeviceSession(service, phoneNumber))?.sessionId;
    /** Starts the shortcut again with a held poll. Resolves once its session is the current one. */
    const start = async (baseUrl = service.baseUrl) => {
      const before = await sessionOf();
      const starter = new DeviceWire(baseUrl, wire.token);
      const leaving = new AbortController();
      const answer = starter.poll({}, leaving.signal);
      answer.catch(() => undefined);
      await until('its session begins', async () => (await sessionOf()) !== before);
      return { wire: starter, answer, lose: () => leaving.abort() };
    };
    return { phoneNumber, start, starter: () => new DeviceWire(service.baseUrl, wire.token) };
  };
  const send = (from: string, content: string) => team.api.send({ from, to: contact, content });
  const messageOf = async (id: string) => (await team.api.get(`/v1/messages/${id}`)).json;
  const isSent = (id: string) => until('it is sent', async () => (await messageOf(id)).status === 'sent');

  it('a phone that lost the answer to its first poll starts anew, and further starts get already_running', async () => {
    const { phoneNumber, start, starter } = await newPhone();
    const lost = await start();
    lost.lose();
    const again = await start();
    const id = await send(phoneNumber, 'hello');
    assert.equal((await again.answer).id, id);
    const next = again.wire.poll({ last: id });
    await isSent(id);
    assert.equal((await starter().poll()).reason, 'already_running', 'a poll has used it');
    const second = await send(phoneNumber, 'the loop lives');
    assert.equal((await next).id, second);
  });

  for (const [where, otherProcess] of [
    ['on one process', false],
    ['on two processes', true],
  ] as const)
    it(`the older of two simultaneous starts ${where} is answered superseded at once`, async (context) => {
      const { phoneNumber, start } = await newPhone();
      const other = otherProcess ? await service.startAnother() : undefined;
      context.after(() => other?.close());
      const first = await start();
      const second = await start(other?.baseUrl);
      assert.deepEqual(await first.answer, superseded);
      const id = await send(phoneNumber, 'to the one that lives');
      assert.equal((await second.answer).id, id);
    });

  it('a later start wins, even on a process whose clock is behind', async (context) => {
    const { phoneNumber, start } = await newPhone();
    const first = await start();
    const behind = new Clock();
    behind.advance(-2_000);
    const other = await service.startAnother(behind);
    context.after(() => other.close());
    const second = await start(other.baseUrl);
    assert.deepEqual(await first.answer, superseded);
    const id = await send(phoneNumber, 'to the newer one');
    assert.equal((await second.answer).id, id);
  });
});
