import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { claim, connectNumber, findNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { given, givenEach } from '#test/support/service/given.ts';
import { givenService, givenTeamBesideCanary } from '#test/support/service/given-team.ts';

const phone = '+14155550100';
const to = '+14155550101';

describe('POST /v1/numbers/:id/reconnect (specification section 4.2)', () => {
  const { service, team } = givenTeamBesideCanary();
  const number = given(() => connectNumber(service, team, phone));

  it('reconnect makes a setup link and keeps id, queue and messages, and the old phone works until the new one polls', async () => {
    const sent = await team.api.send({ from: phone, to, content: 'history' });
    assert.equal((await number.wire.poll()).id, sent);
    assert.equal((await number.wire.poll({ last: sent })).action, 'idle');
    const before = await findNumber(team.api, phone);

    const answer = await team.api.post(`/v1/numbers/${number.numberId}/reconnect`);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.json).sort(), ['message', 'setup_url']);
    assert.match(String(answer.json.message), /\+14155550100/);
    const device = await claim(team.api, String(answer.json.setup_url));

    const first = await team.api.send({ from: phone, to, content: 'by the old phone' });
    const second = await team.api.send({ from: phone, to, content: 'by the new phone' });
    assert.equal((await number.wire.poll()).id, first);
    // The old phone reports its message in flight before the new phone polls.
    const report = number.wire.poll({ last: first });
    const third = (await report).id;
    assert.equal(third, second, 'the old phone still works');

    const newPhone = await device.poll();
    assert.equal(newPhone.action, 'idle', 'what the old phone holds has its grace');
    assert.deepEqual(await number.wire.poll({ last: second }), {
      action: 'stop',
      session: 'none',
      reason: 'superseded',
    });
    const fourth = await team.api.send({ from: phone, to, content: 'by the new phone' });
    assert.equal((await device.poll()).id, fourth);
    const after = await findNumber(team.api, phone);
    assert.deepEqual([after?.id, after?.verified, after?.created_at], [before?.id, true, before?.created_at]);
    for (const id of [sent, first, second]) {
      assert.equal((await team.api.get(`/v1/messages/${id}`)).json.status, 'sent');
    }
  });

  it('reconnect ends earlier setup links of the number', async () => {
    const links: string[] = [];
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await team.api.post(`/v1/numbers/${number.numberId}/reconnect`);
      links.push(String(answer.json.setup_url));
    }
    await assert.rejects(claim(team.api, links[0] ?? ''), /404/);
    await claim(team.api, links[1] ?? '');
  });

  it('reconnect of a pending number has the same result as another verify', async () => {
    const verify = await team.api.post('/v1/numbers/verify', { phone_number: '+14155550102' });
    const old = await claim(team.api, String(verify.json.setup_url));
    const pending = await findNumber(team.api, '+14155550102');
    const answer = await team.api.post(`/v1/numbers/${pending?.id}/reconnect`, {});
    const device = await claim(team.api, String(answer.json.setup_url));
    assert.equal((await old.poll()).action, 'stop');
    assert.equal((await device.poll()).action, 'idle');
    assert.equal((await findNumber(team.api, '+14155550102'))?.verified, true);
  });
});

describe('a device that describes itself differently', () => {
  const service = givenService({ ROLES: 'api' });
  const team = givenEach(() => service.newTeam());
  const number = givenEach(() => connectNumber(service, team, newPhoneNumber()));
  beforeEach(() => takeover({ device_name: 'Anna’s iPhone', os: '18.1' }));

  /** Starts the shortcut again with these fields, after its old session has ended. */
  async function takeover(fields: Readonly<Record<string, string>>): Promise<void> {
    service.clock.advance(10 * 60_000);
    number.wire.session = 'new';
    assert.equal((await number.wire.poll(fields)).action, 'idle');
  }
  const change = async () => (await team.api.get(`/v1/numbers/${number.numberId}`)).json.device_change;
  const actions = async () =>
    (await storedAuditEntries(service, { teamId: team.id }))
      .map(({ action }) => action)
      .filter((action) => action.startsWith('number.device_'));

  it('another device name is a warning with both descriptions, for 30 days', async () => {
    const at = service.clock.now().getTime();
    await takeover({ device_name: 'Ben’s iPhone', os: '18.1' });
    const { at: seenAt, ...descriptions } = (await change()) as Record<string, string>;
    assert.ok(Date.parse(seenAt ?? '') > at);
    assert.deepEqual(descriptions, {
      device_name: 'Ben’s iPhone',
      os: '18.1',
      previous_device_name: 'Anna’s iPhone',
      previous_os: '18.1',
    });
    service.clock.advance(30 * 24 * 3_600_000 - 60_000);
    assert.notEqual(await change(), null);
    service.clock.advance(60_000);
    assert.equal(await change(), null);
  });

  it('another iOS version is a warning too, but neither the same device nor a device without a name is', async () => {
    const before = (await actions()).length;
    await takeover({ device_name: 'Anna’s iPhone', os: '18.1' });
    await takeover({ device_name: 'Anna’s iPhone', os: 'none' });
    await takeover({ device_name: 'none', os: '18.1' });
    assert.equal((await actions()).length, before);
    await takeover({ device_name: 'Anna’s iPhone', os: '18.1' });
    await takeover({ device_name: 'Anna’s iPhone', os: '17.4' });
    const { previous_os, os } = (await change()) as Record<string, string>;
    assert.deepEqual([previous_os, os], ['18.1', '17.4']);
    assert.equal((await actions()).length, before + 1);
  });

  it('a phone that connects with a new setup link ends the warning of another device', async () => {
    await takeover({ device_name: 'Ben’s iPhone', os: '18.1' });
    const again = await team.api.post(`/v1/numbers/${number.numberId}/reconnect`, {});
    const next = await claim(team.api, String(again.json.setup_url));
    await next.poll({ device_name: 'Ada’s iPhone' });
    assert.equal(await change(), null);
  });
});
