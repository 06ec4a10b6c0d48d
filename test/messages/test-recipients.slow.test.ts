import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testLine } from '#contract/test-line.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { newTestClient } from '#test/support/service/test-client.ts';
import { until } from '#test/support/service/until.ts';

describe('recipients of test messages for which the phone takes long', () => {
  const service = givenService();

  it('one test recipient keeps a message polling for 5 s before its delivery, and another fails with device_timeout after 11 s', async () => {
    const { api } = await newTestClient(service);
    const send = (to: string) => api.send({ from: testLine, to, content: 'Hello' });
    const [slow, silent] = [await send('+15005550103'), await send('+15005550126')];
    const read = async (id: string) => (await api.get(`/v1/messages/${id}`)).json;
    await until('the phone took the slow one', async () => (await read(slow)).status === 'polling');
    const takenMs = performance.now();
    await until('it is delivered', async () => (await read(slow)).status === 'delivered');
    assert.ok(performance.now() - takenMs > 4_000);
    await until('the other one fails', async () => (await read(silent)).error_code === 'device_timeout');
  });
});
