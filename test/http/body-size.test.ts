import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

describe('the maximum size of a body (§8/body-sizes)', () => {
  const { service, team } = givenTeam();

  it('a request body may have 16 KiB and not a byte more', async () => {
    const put = (bytes: number) =>
      team.api.request('PUT', '/v1/team', { rawBody: `{"name":"Example"}`.padEnd(bytes) });
    assert.equal((await put(16 * 1_024)).status, 200);
    assert.equal((await put(16 * 1_024 + 1)).status, 413);
  });

  it('the body of a send may have 128 KiB and not a byte more', async () => {
    const { phoneNumber } = await connectNumber(service, team, '+14155550102');
    const message = JSON.stringify({ from: phoneNumber, to: '+14155550101', content: 'Hello' });
    const send = (bytes: number) =>
      team.api.request('POST', '/v1/messages/send', { rawBody: message.padEnd(bytes) });
    assert.equal((await send(128 * 1_024)).status, 202);
    assert.equal((await send(128 * 1_024 + 1)).status, 413);
  });
});
