import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  assertUnavailable,
  connectNumber,
  DeviceWire,
  type FlatAnswer,
} from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const to = '+14155550101';

/**
 * Compares whole answers, as shortcuts that can't be updated read them. If a change makes this test fail, it needs new
 * calls beside the old ones.
 */
describe('the device protocol is frozen (specification sections 9 and 11) (§9/frozen-device-protocol)', () => {
  const { service, team } = givenTeam();

  const call = async (path: string, body: FlatAnswer, token = ''): Promise<unknown> =>
    new DeviceWire(service.baseUrl, token).call(path, body);

  it('a claim is answered with the token, the server and the number', async () => {
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550110' });
    const token = String(verify.json.setup_url).split('/').at(-1) ?? '';
    const { device_token, ...rest } = (await call('claim', { token })) as FlatAnswer;
    assert.match(device_token ?? '', /^dev_[a-z0-9]{4}[\w-]{43}$/);
    assert.deepEqual(rest, { server: service.baseUrl, phone_number: '+14155550110' });
  });

  it('a poll is answered with send, idle, stop or unavailable', async () => {
    const { wire, phoneNumber: from } = await connectNumber(service, team, '+14155550111');
    const id = await team.api.send({ from, to, content: 'Hello' });
    const poll = { session: wire.session, last: 'none', device_name: 'iPhone', os: '26.1', v: '1' };
    const { session } = wire;
    assert.deepEqual(await call('poll', poll, wire.token), {
      action: 'send',
      session,
      id,
      to,
      text: 'Hello',
      media: 'none',
      wait: '0',
    });
    const next = { ...poll, last: id, last_status: 'sent', last_error: '' };
    assert.deepEqual(await call('poll', next, wire.token), { action: 'idle', session, wait: '0' });
    assert.equal((await team.api.get(`/v1/messages/${id}`)).json.status, 'sent');
    assert.deepEqual(await call('poll', poll, 'dev_nobody'), {
      action: 'stop',
      session: 'none',
      reason: 'unauthorized',
    });
    assertUnavailable(await wire.call('poll', 'unreadable'));
  });

  it('inbound and status are answered with ok and an id, or not ok and a reason', async () => {
    const { wire, phoneNumber: from } = await connectNumber(service, team, '+14155550112');
    const inbound = { from: to, text: 'Hello', id: 'one' };
    const received = (await call('inbound', inbound, wire.token)) as FlatAnswer;
    assert.match(received.id ?? '', /^msg_/);
    assert.deepEqual(received, { ok: '1', id: received.id });
    assert.deepEqual(await call('inbound', inbound), { ok: '0', reason: 'unauthorized' });
    const id = await team.api.send({ from, to, content: 'Hello' });
    const status = { id, status: 'delivered', error: '' };
    assert.deepEqual(await call('status', status, wire.token), { ok: '0', reason: 'unknown_message' });
    assert.equal((await wire.poll()).id, id);
    assert.deepEqual(await call('status', status, wire.token), { ok: '1', id });
    assert.deepEqual(await call('status', { ...status, status: 'read' }, wire.token), {
      ok: '0',
      reason: 'unknown_status',
    });
  });
});
