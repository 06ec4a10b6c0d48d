import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verify } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { deliveryHeaders } from '#server/webhooks/dispatch/attempt-delivery.ts';
import { newWebhookSecret } from '#server/webhooks/endpoints/webhook-secret.ts';
import { anyText } from '#test/support/generators/generated-texts.ts';

const eventId = 'evt_01h2xcejqtf2nbrexx3vqjhp41';
const eventType = 'message.sent';

function sign(content: string, options: { readonly next?: string } = {}) {
  const current = newWebhookSecret();
  const body = Buffer.from(JSON.stringify({ data: { content } }), 'utf8');
  const headers = deliveryHeaders({
    eventId,
    eventType,
    body,
    secrets: { current, next: options.next },
    startedAt: new Date(performance.timeOrigin + performance.now()),
    isTest: false,
  });
  return { current, body, text: body.toString('utf8'), headers };
}

/** Texts that an event can carry, above all those with several spellings, which break signatures. */
const contents = fc.oneof(
  anyText({ maxLength: 200 }),
  fc.constantFrom(
    '👩‍👩‍👧‍👦',
    'a\u2028b\u2029c',
    'שלום “עולם”',
    '"\\\'',
    '\r\n\t',
    '\u0001',
    'e\u0301é',
    '\ufeff',
    '',
  ),
);

const byStandard = (secret: string, text: string | Buffer, headers: Record<string, string>) =>
  new Webhook(secret).verify(text, headers);

describe('signatures, verified by independent implementations (specification sections 6.3 and 6.4)', () => {
  it('signatures of 1,000 bodies of any kind are valid for the libraries of GitHub and of Standard Webhooks (§6.3/request-format)', async () => {
    await fc.assert(
      fc.asyncProperty(contents, async (content) => {
        const { current, text, headers } = sign(content);
        assert.ok(await verify(current, text, headers['x-service-signature'] ?? ''));
        byStandard(current, text, headers);
      }),
      { numRuns: 1_000 },
    );
  });

  it('during a rotation each signature header is valid for receivers with either secret (§6.4/replay-and-rotation)', async () => {
    const next = newWebhookSecret();
    const { current, text, headers } = sign('Hello', { next });
    for (const secret of [current, next]) byStandard(secret, text, headers);
    assert.equal(headers['webhook-signature']?.split(' ').length, 2);
    assert.ok(await verify(current, text, headers['x-service-signature'] ?? ''));
    assert.ok(await verify(next, text, headers['x-service-signature-next'] ?? ''));
    assert.throws(() => byStandard(newWebhookSecret(), text, headers));
    assert.equal(sign('Hello').headers['x-service-signature-next'], undefined);
  });
});
