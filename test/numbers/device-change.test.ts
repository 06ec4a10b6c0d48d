import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { claim, connectNumber, newPhoneNumber } from '#test/support/phones/test-phone.ts';
import { givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

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

  it('a poll with another device name causes a warning with both descriptions, for 30 days', async () => {
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

  it('a poll with another iOS version causes a warning too, but the same device or one without a name does not', async () => {
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

  it('a phone that connects with a new setup link ends the warning about another device', async () => {
    await takeover({ device_name: 'Ben’s iPhone', os: '18.1' });
    const again = await team.api.post(`/v1/numbers/${number.numberId}/reconnect`, {});
    const next = await claim(team.api, String(again.json.setup_url));
    await next.poll({ device_name: 'Ada’s iPhone' });
    assert.equal(await change(), null);
  });
});
