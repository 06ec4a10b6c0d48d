import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { warnOfRepeatedTexts } from '#server/messages/warn-of-repeated-texts.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { DirectPhone } from '#test/support/phones/direct-phone.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

describe('the same text to many new contacts (specification section 8)', () => {
  const { service, team } = givenTeam({ ROLES: 'api', PACING: 'gentle' });

  it('the same text to an eleventh new contact makes an audit entry, once an hour, without the text (§8/repeated-text)', async () => {
    const number = await connectNumber(service, team);
    const phone = await DirectPhone.of(service, number);
    await team.api.put(`/v1/numbers/${number.numberId}`, {
      pacing: { gap_min_seconds: 0, gap_max_seconds: 0 },
    });
    let contacts = 0;
    const sendToNew = async (count: number, content: string) => {
      for (let sent = 0; sent < count; sent += 1) {
        contacts += 1;
        const to = `+1212555${String(contacts).padStart(4, '0')}`;
        await team.api.send({ from: number.phoneNumber, to, content });
        assert.equal(typeof (await phone.send(service.runtime)), 'string');
      }
    };
    const warned = async () => {
      await Promise.all([warnOfRepeatedTexts(service.runtime), warnOfRepeatedTexts(service.runtime)]);
      const entries = await storedAuditEntries(service, { teamId: team.id });
      return entries.flatMap(({ action, target, details, actorKind }) =>
        action === 'number.repeated_text' ? [{ target, details, actorKind }] : [],
      );
    };
    await sendToNew(10, 'Our offer of the day');
    await sendToNew(5, 'Another text');
    assert.deepEqual(await warned(), []);
    await sendToNew(1, 'Our offer of the day');
    const entry = {
      target: number.numberId,
      details: { phone_number: number.phoneNumber, new_contacts: 11 },
      actorKind: 'server',
    };
    assert.deepEqual(await warned(), [entry]);
    await sendToNew(3, 'Our offer of the day');
    assert.deepEqual(await warned(), [entry], 'once an hour');
    service.clock.advance(3_600_000);
    await sendToNew(11, 'Our offer of the day');
    assert.deepEqual(await warned(), [entry, entry]);
  });
});
