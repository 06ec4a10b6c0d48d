import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestService, type TestService, type TestTeam } from '#test/support/test-service.ts';

describe('how large a body may be (specification section 8)', () => {
  let service: TestService;
  let team: TestTeam;

  before(async () => {
    service = await startTestService();
    team = await service.newTeam();
  });
  after(() => service.close());

  it('a request: 256 KiB and not a byte more', async () => {
    const put = (bytes: number) =>
      team.api.request('PUT', '/v1/team', { rawBody: `{"name":"Example"}`.padEnd(bytes) });
    assert.equal((await put(256 * 1_024)).status, 200);
    assert.equal((await put(256 * 1_024 + 1)).status, 413);
  });
});
