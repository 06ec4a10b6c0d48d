import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileBodyMinBytes } from '#server/devices/limits.ts';
import { startUpload } from '#test/support/phones/partial-upload.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { startTestService } from '#test/support/service/test-service.ts';

// The test runs in its own process, as it measures the memory of the whole process.
describe('memory for bodies of a known device token (specification sections 11.1 and 11.7)', () => {
  it('60 connections with large bodies use the memory of a few bodies', async () => {
    const service = await startTestService({ RATE_LIMITS: 'on' });
    try {
      const { wire } = await connectNumber(service, await service.newTeam());
      nextMinute(service.clock);
      const connections = 60;
      // The first upload makes the buffer that all uploads of this process share, so it is made before the measurement.
      (await startUpload(service.baseUrl, wire.token, 0)).socket.destroy();
      const before = process.memoryUsage().arrayBuffers;
      const uploads = await Promise.all(
        Array.from({ length: connections }, () => startUpload(service.baseUrl, wire.token)),
      );
      try {
        for (let n = 0; n < 40; n += 1)
          await wire.call('inbound', { from: '+12125550100', text: `between ${n}` });
        const heldBodies = (process.memoryUsage().arrayBuffers - before) / fileBodyMinBytes;
        assert.ok(heldBodies < connections / 2, `${heldBodies.toFixed(1)} bodies of ${connections}`);
      } finally {
        for (const { socket } of uploads) socket.destroy();
      }
    } finally {
      await service.close();
    }
  });
});
