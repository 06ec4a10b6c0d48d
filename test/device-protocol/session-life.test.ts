import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveOverdue } from '#server/messages/sweep-messages.ts';
import { findDeviceSession } from '#test/support/devices/stored-devices.ts';
import { claim, connectNumber, DeviceWire } from '#test/support/phones/test-phone.ts';
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
