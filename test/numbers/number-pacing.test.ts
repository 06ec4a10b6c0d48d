import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gentlePacing } from '#test/support/numbers/default-pacing.ts';
import { DirectPhone } from '#test/support/phones/direct-phone.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

describe('the pacing of a number (specification section 4.2)', () => {
  const { service, team } = givenTeam({ PACING: 'gentle', ROLES: 'api' });
  const number = given(() => connectNumber(service, team));

  const put = (pacing: unknown) => team.api.put(`/v1/numbers/${number.numberId}`, { pacing });
  const shown = async ({ numberId } = number) => (await team.api.get(`/v1/numbers/${numberId}`)).json;

  it('a number’s pacing is PACING except for the fields that the number sets, and null clears these fields', async () => {
    assert.deepEqual((await shown()).pacing, { ...gentlePacing, set_by_number: [] });
    const own = { mode: 'strict', messages_per_hour: 20 };
    const answer = await put(own);
    assert.deepEqual(Object.keys(answer.json), ['id', 'phone_number', 'label', 'status', 'verified']);
    assert.deepEqual((await shown()).pacing, {
      ...gentlePacing,
      ...own,
      set_by_number: ['mode', 'messages_per_hour'],
    });
    assert.equal((await put({ mode: 'default', gap_max_seconds: 60 })).status, 200);
    assert.deepEqual((await shown()).pacing, {
      ...gentlePacing,
      gap_max_seconds: 60,
      set_by_number: ['gap_max_seconds'],
    });
    await team.api.put(`/v1/numbers/${number.numberId}`, { label: 'Support' });
    assert.deepEqual(field((await shown()).pacing, 'set_by_number'), ['gap_max_seconds'], 'it stays');
    for (const cleared of [null, {}, { mode: 'default' }]) {
      await put({ mode: 'off' });
      assert.equal((await put(cleared)).status, 200);
      assert.deepEqual((await shown()).pacing, { ...gentlePacing, set_by_number: [] });
    }
  });

  it('each pacing limit accepts its minimum and its maximum, and nothing beyond', async () => {
    const bounds = {
      gap_min_seconds: [0, 3_600],
      gap_max_seconds: [0, 3_600],
      messages_per_hour: [1, 10_000],
      messages_per_day: [1, 100_000],
      new_contacts_per_hour: [1, 1_000],
      new_contacts_per_day: [1, 1_000],
      unanswered_per_contact: [1, 1_000],
    };
    const all = (index: number) =>
      Object.fromEntries(Object.entries(bounds).map(([name, ends]) => [name, ends[index]]));
    for (const ends of [all(0), all(1)]) assert.equal((await put(ends)).status, 200);
    for (const [name, [min = 0, max = 0]] of Object.entries(bounds)) {
      for (const value of [min - 1, max + 1, 1.5, '2', null, true]) {
        const answer = await put({ [name]: value });
        assert.equal(answer.status, 400, `${name}: ${value}`);
        assert.equal(field(answer.json, 'error.param'), 'pacing');
        assert.match(String(field(answer.json, 'error.message')), new RegExp(`^pacing\\.${name} must be `));
      }
    }
    await put(null);
  });

  it('an unknown pacing mode or field, and a gap whose maximum is below its minimum, are refused with a reason', async () => {
    const refused: [unknown, RegExp][] = [
      [{ mode: 'slow' }, /^pacing\.mode must be one of: default, off, gentle, strict\.$/],
      [{ per_hour: 5 }, /^pacing\.per_hour is not a field of this request\. Known fields: mode, gap_min/],
      ['gentle', /^pacing must be an object or null\.$/],
      [[], /^pacing must be an object or null\.$/],
      [{ gap_min_seconds: 6 }, /^pacing\.gap_max_seconds, 5, must be at least pacing\.gap_min_seconds, 6/],
      [{ gap_min_seconds: 9, gap_max_seconds: 8 }, /gap_max_seconds, 8, must be at least .*, 9/],
    ];
    for (const [pacing, message] of refused) {
      const answer = await put(pacing);
      assert.equal(answer.status, 400, JSON.stringify(pacing));
      assert.equal(field(answer.json, 'error.param'), 'pacing');
      assert.match(String(field(answer.json, 'error.message')), message);
    }
  });

  it('the number of a send that exceeds the limit of new contacts or unanswered messages shows that limit as a warning', async () => {
    const other = await connectNumber(service, team);
    const phone = await DirectPhone.of(service, other);
    const pacing = {
      gap_min_seconds: 0,
      new_contacts_per_hour: 2,
      new_contacts_per_day: 3,
      unanswered_per_contact: 2,
    };
    await team.api.put(`/v1/numbers/${other.numberId}`, { pacing });
    const sendTo = async (contact: string) => {
      await team.api.send({ from: other.phoneNumber, to: contact, content: 'Hello' });
      service.clock.advance(6_000);
      assert.equal(typeof (await phone.send(service.runtime)), 'string');
      return (await shown(other)).pacing_warnings;
    };
    assert.deepEqual(await sendTo('+12125550101'), []);
    assert.deepEqual(await sendTo('+12125550102'), []);
    assert.deepEqual(await sendTo('+12125550103'), ['new_contacts_per_hour']);
    assert.deepEqual(await sendTo('+12125550104'), ['new_contacts_per_hour', 'new_contacts_per_day']);
    assert.deepEqual(await sendTo('+12125550104'), [
      'new_contacts_per_hour',
      'new_contacts_per_day',
      'unanswered_per_contact',
    ]);
    await other.wire.call('inbound', { from: '+12125550104', text: 'Hi' });
    service.clock.advance(3_600_000);
    assert.deepEqual((await shown(other)).pacing_warnings, ['new_contacts_per_day']);
    await team.api.put(`/v1/numbers/${other.numberId}`, { pacing: { ...pacing, mode: 'off' } });
    assert.deepEqual((await shown(other)).pacing_warnings, []);
  });
});
