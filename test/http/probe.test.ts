import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { createProbeTicket } from '#server/app/probe/probe-route.ts';
import { Secrets } from '#server/platform/crypto.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('the probe of ownline doctor (specification section 10.11)', () => {
  const service = givenService();

  const call = (ticket: string, query = '', body = 'bytes') =>
    fetch(`${service.baseUrl}/v1/device/probe/${ticket}${query}`, { method: 'POST', body });
  const ticket = () => createProbeTicket(service.runtime.secrets, service.clock.nowMs());

  it('the probe answers 404 before reading a body if the request has no valid five-minute ticket of this SECRETS_KEY', async () => {
    const good = ticket();
    assert.equal((await call(good)).status, 200);
    const [expiry = '', mac = ''] = good.split('.');
    const later = (Number.parseInt(expiry, 36) + 60_000).toString(36);
    const other = createProbeTicket(new Secrets(randomBytes(32)), service.clock.nowMs());
    for (const wrong of [other, `${later}.${mac}`, `${expiry}.${'A'.repeat(43)}`, expiry, `${good}x`, 'x'])
      assert.equal((await call(wrong)).status, 404, wrong);
    const tooLarge = await call(other, '', 'x'.repeat(9 * 1_024 * 1_024)).catch(() => undefined);
    assert.ok(tooLarge === undefined || tooLarge.status === 404, 'refused for the ticket, not for the size');
    service.clock.advance(299_000);
    assert.equal((await call(good)).status, 200);
    service.clock.advance(2_000);
    assert.equal((await call(good)).status, 404);
  });

  it('the probe delays its answer by hold_ms, and a stop of the service ends the delay', async () => {
    const other = await service.startAnother();
    const held = fetch(`${other.baseUrl}/v1/device/probe/${ticket()}?hold_ms=50000`, {
      method: 'POST',
      body: '{}',
    });
    await fetch(`${other.baseUrl}/healthz`);
    const startedMs = performance.now();
    await other.close();
    assert.equal((await held).status, 200);
    assert.ok(performance.now() - startedMs < 15_000);
  });
});
