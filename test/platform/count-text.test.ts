import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tooManyRequests } from '#server/platform/app-error.ts';
import { countText, countUpToText } from '#server/platform/text.ts';

describe('counts in texts', () => {
  it('a count of one has its noun in the singular, also the seconds of a 429 (§7.2/rate-limit-headers)', () => {
    assert.equal(countText(1, 'message'), '1 message');
    assert.equal(countText(2_000, 'message'), '2,000 messages');
    assert.equal(countText(1, 'delivery', 'deliveries'), '1 delivery');
    assert.equal(countUpToText(11, 10, 'message'), 'more than 10 messages');
    assert.equal(tooManyRequests(1).message, 'Too many requests. Retry in 1 second.');
    assert.equal(tooManyRequests(2).message, 'Too many requests. Retry in 2 seconds.');
  });
});
