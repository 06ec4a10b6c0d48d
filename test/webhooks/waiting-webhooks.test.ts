import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WebhookId } from '#server/platform/ids.ts';
import { WaitingWebhooks } from '#server/webhooks/dispatch/waiting-webhooks.ts';

describe('the webhooks that claims examine (decision 0017)', () => {
  it('a webhook whose marks were cleared is examined again from its first queue row on, without a notification', () => {
    const id = 'a webhook' as WebhookId;
    const now = new Date(1_000_000);
    const waiting = new WaitingWebhooks();
    const due = { live: 500_000, retry: 500_000, replay: 500_000, manual: 500_000 };
    waiting.add([id]);
    for (const atMs of [0, 2_000]) {
      waiting.take([id], now);
      waiting.see([{ id, waits: false, ...due }], atMs);
    }
    assert.deepEqual(waiting.ids, []);
    assert.deepEqual(waiting.take([id], now), [{ id, ...due }]);
    waiting.forgetMarks();
    assert.deepEqual(waiting.ids, [id]);
    assert.deepEqual(waiting.take([id], now), [{ id, live: 0, retry: 0, replay: 0, manual: 0 }]);
  });
});
