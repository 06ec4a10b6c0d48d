import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { assertUnavailable, claim } from '#test/support/phones/test-phone.ts';
import { givenSpawnedService } from '#test/support/processes/given-spawned-service.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';

const large = 'a'.repeat(10_000_000);
const times = 12;

/** The service has its own process, so that a client is still writing when the refusal arrives. */
describe('bodies that are too large, or not sent to the end (specification sections 7.1, 10.4 and 11.1)', () => {
  const service = givenSpawnedService();
  let ofKey: Readonly<Record<string, string>>;
  let ofPhone: Readonly<Record<string, string>>;

  before(async () => {
    const key = await firstKey(service.dataDir);
    const api = new ApiClient(service.baseUrl, key);
    const { json } = await api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
    ofKey = { 'x-api-key': key, 'content-type': 'application/json' };
    ofPhone = { 'x-device-token': (await claim(api, String(json.setup_url))).token };
  });

  const post = (path: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${service.baseUrl}${path}`, { method: 'POST', headers, body: large });

  it('a client that is still sending a large body receives the 413, and a phone receives an answer of the device protocol', async () => {
    for (let round = 0; round < times; round += 1) {
      assert.equal((await post('/v1/messages/send', ofKey)).status, 413);
      const poll = await post('/v1/device/poll', ofPhone);
      assertUnavailable(await poll.json());
      const inbound = await post('/v1/device/inbound', ofPhone);
      assert.deepEqual(await inbound.json(), { ok: '0', reason: 'too_large' });
    }
  });

  /** Sends half of a body, waits until the server asks for the rest, and resets the connection. */
  async function breakOff(path: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname);
    const lines = Object.entries({ host: 'a', ...headers, 'content-length': '100', expect: '100-continue' });
    socket.write(
      `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n{"a":`,
    );
    await new Promise((resolve, reject) => socket.once('data', resolve).once('error', reject));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resetAndDestroy();
    await closed;
  }

  it('a client that disconnects in the middle of a body leaves no error in the log', async () => {
    for (let round = 0; round < 5; round += 1) {
      await breakOff('/v1/device/claim', {});
      await breakOff('/v1/device/poll', {});
      await breakOff('/v1/device/poll', ofPhone);
      await breakOff('/v1/device/inbound', ofPhone);
      await breakOff('/v1/messages/send', ofKey);
      await breakOff('/sign-in', { 'content-type': 'application/x-www-form-urlencoded' });
    }
    assert.equal(await service.kill('SIGTERM'), 0);
    assert.doesNotMatch(service.log(), /failed|aborted|ECONNRESET/);
  });
});
