import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { purgeSetupLinks } from '#server/devices/purge-setup-links.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';

const dayMs = 86_400_000;

describe('setup links that are over (specification section 4.2)', () => {
  let service: TestService;

  before(async () => {
    service = await startTestService({ ROLES: 'api' });
  });
  after(() => service.close());

  it('2,500 links that no phone used are deleted 30 days after their end; the one of a phone stays, and its token works (§4.2/setup-link)', async () => {
    const team = await service.newTeam();
    const number = await connectNumber(service, team);
    await service.query(
      `INSERT INTO setup_links (team_id, id, number_id, token_hash, created_at, expires_at)
       SELECT l.team_id, gen_random_uuid(), l.number_id, sha256(n::text::bytea), l.created_at, l.expires_at
       FROM setup_links l, generate_series(1, 2500) AS n WHERE l.team_id = $1`,
      [team.id],
    );
    const links = async () => (await service.query('SELECT FROM setup_links')).length;
    service.clock.advance(30 * dayMs);
    await purgeSetupLinks(service.runtime);
    assert.equal(await links(), 2_501);
    service.clock.advance(2 * dayMs);
    await purgeSetupLinks(service.runtime);
    assert.equal(await links(), 1);
    assert.equal((await number.wire.poll({ session: 'new' })).action, 'idle');
  });
});
