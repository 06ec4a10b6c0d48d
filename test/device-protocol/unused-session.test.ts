import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Clock } from '#server/platform/time/clock.ts';
import { findDeviceSession } from '#test/support/devices/stored-devices.ts';
import { claim, DeviceWire, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

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

  it('a phone that lost the answer to its first poll can start again, and further starts get already_running', async () => {
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
    it(`the older of two simultaneous starts of the shortcut ${where} is answered superseded at once`, async (context) => {
      const { phoneNumber, start } = await newPhone();
      const other = otherProcess ? await service.startAnother() : undefined;
      context.after(() => other?.close());
      const first = await start();
      const second = await start(other?.baseUrl);
      assert.deepEqual(await first.answer, superseded);
      const id = await send(phoneNumber, 'to the one that lives');
      assert.equal((await second.answer).id, id);
    });

  it('a later start of the shortcut wins, even on a process whose clock is behind', async (context) => {
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
