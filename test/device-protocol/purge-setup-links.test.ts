import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { purgeSetupLinks } from '#server/devices/setup-link.ts';
import { putUnusedSetupLinks } from '#test/support/devices/given-devices.ts';
import { countSetupLinks } from '#test/support/devices/stored-devices.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { givenService } from '#test/support/service/given-team.ts';

const dayMs = 86_400_000;

describe('purge of setup links (specification section 4.2)', () => {
  const service = givenService({ ROLES: 'api' });

  it('2,500 unused setup links are deleted 30 days after their end, and a claimed link stays with its token', async () => {
    const team = await service.newTeam();
    const number = await connectNumber(service, team);
    await putUnusedSetupLinks(service, team.id, 2_500);
    const links = () => countSetupLinks(service);
    service.clock.advance(30 * dayMs);
    await purgeSetupLinks(service.runtime);
    assert.equal(await links(), 2_501);
    service.clock.advance(2 * dayMs);
    await purgeSetupLinks(service.runtime);
    assert.equal(await links(), 1);
    assert.equal((await number.wire.poll({ session: 'new' })).action, 'idle');
  });
});
