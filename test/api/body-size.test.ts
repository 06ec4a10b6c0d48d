import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { rawRequest } from '#test/support/raw-http.ts';
import { connectNumber } from '#test/support/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/test-service.ts';

const mebibyte = 1_024 * 1_024;

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

  it('an inbound message of a device: 8 MiB', async () => {
    const { wire } = await connectNumber(service, team, '+14155550100');
    const largest = `{"from":"+12125550100","text":"Hello"}`.padEnd(8 * mebibyte);
    assert.equal((await wire.call('inbound', largest)).ok, '1');
    const head = [
      'POST /v1/device/inbound HTTP/1.1',
      'Host: a',
      `x-device-token: ${wire.token}`,
      `Content-Length: ${8 * mebibyte + 1}`,
      'Connection: close',
    ];
    const refused = await rawRequest(service.baseUrl, `${head.join('\r\n')}\r\n\r\n`);
    assert.deepEqual([refused.status, JSON.parse(refused.body)], [200, { ok: '0', reason: 'unavailable' }]);
  });
});
