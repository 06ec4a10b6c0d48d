import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { claim } from '#test/support/phones/test-phone.ts';
import { givenSpawnedService } from '#test/support/processes/given-spawned-service.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';

describe('request bodies that a client does not send to the end', () => {
  const service = givenSpawnedService();

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

  it('a client that disconnects in the middle of a body leaves no error in the log (specification section 10.4)', async () => {
    const key = await firstKey(service.dataDir);
    const api = new ApiClient(service.baseUrl, key);
    const { json } = await api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
    const { token } = await claim(api, String(json.setup_url));
    const type = { 'content-type': 'application/json' };
    for (let round = 0; round < 5; round += 1) {
      await breakOff('/v1/device/claim', {});
      await breakOff('/v1/device/poll', {});
      await breakOff('/v1/device/poll', { 'x-device-token': token });
      await breakOff('/v1/device/inbound', { 'x-device-token': token });
      await breakOff('/v1/messages/send', { 'x-api-key': key, ...type });
      await breakOff('/sign-in', { 'content-type': 'application/x-www-form-urlencoded' });
    }
    assert.equal(await service.kill('SIGTERM'), 0);
    assert.doesNotMatch(service.log(), /failed|aborted|ECONNRESET/);
  });
});
