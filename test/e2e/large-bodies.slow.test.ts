import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { claim } from '#test/support/phones/test-phone.ts';
import { givenSpawnedService } from '#test/support/processes/given-spawned-service.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';

const large = 'a'.repeat(10_000_000);
const times = 12;

/** The service has its own process, so that a client is still writing when the refusal arrives. */
describe('bodies that are too large (specification sections 7.1 and 11.1)', () => {
  const service = givenSpawnedService();
  let key: string;

  before(async () => {
    key = await firstKey(service.dataDir);
  });

  const post = (path: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${service.baseUrl}${path}`, { method: 'POST', headers, body: large });

  it('a client that still writes a large body receives the 413', async () => {
    for (let round = 0; round < times; round += 1) {
      const answer = await post('/v1/messages/send', {
        'x-api-key': key,
        'content-type': 'application/json',
      });
      assert.equal(answer.status, 413);
    }
  });

  it('a phone’s large body is refused with an answer of the device protocol', async () => {
    const api = new ApiClient(service.baseUrl, key);
    const { json } = await api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
    const phone = { 'x-device-token': (await claim(api, String(json.setup_url))).token };
    for (let round = 0; round < times; round += 1) {
      const poll = await post('/v1/device/poll', phone);
      assert.deepEqual(await poll.json(), { ok: '0', reason: 'unavailable', wait: '15' });
      const inbound = await post('/v1/device/inbound', phone);
      assert.deepEqual(await inbound.json(), { ok: '0', reason: 'too_large' });
    }
  });
});
