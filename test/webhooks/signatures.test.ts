import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { verify } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { deliveryHeaders } from '#server/webhooks/dispatch/delivery-headers.ts';
import { newWebhookSecret } from '#server/webhooks/endpoints/webhook-secret.ts';

const eventId = 'evt_01h2xcejqtf2nbrexx3vqjhp41';
const eventType = 'message.sent';

function sign(content: string, options: { readonly at?: Date; readonly next?: string } = {}) {
  const current = newWebhookSecret();
  const body = Buffer.from(JSON.stringify({ data: { content } }), 'utf8');
  const headers = deliveryHeaders({
    eventId,
    eventType,
    body,
    secrets: { current, next: options.next },
    startedAt: options.at ?? new Date(performance.timeOrigin + performance.now()),
    isTest: false,
  });
  return { current, body, text: body.toString('utf8'), headers };
}

/** Texts that an event can carry, above all those with several spellings, which break signatures. */
const contents = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
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
  it('1,000 contents of any kind verify with the libraries of GitHub and of Standard Webhooks (§6.3/request-format)', async () => {
    await fc.assert(
      fc.asyncProperty(contents, async (content) => {
        const { current, text, headers } = sign(content);
        assert.ok(await verify(current, text, headers['x-service-signature'] ?? ''));
        byStandard(current, text, headers);
      }),
      { numRuns: 1_000 },
    );
  });

  it('openssl computes the same signature, with the whole text of the secret as the key (§6.3/request-format)', () => {
    const { current, body, headers } = sign('Grüße 👋');
    const printed = execFileSync('openssl', ['dgst', '-sha256', '-hmac', current], {
      input: body,
    }).toString();
    assert.equal(`sha256=${printed.trim().split(' ').at(-1)}`, headers['x-service-signature']);
  });

  it('the signature of GitHub’s published example is the published one (§6.3/request-format)', () => {
    const headers = deliveryHeaders({
      eventId,
      eventType,
      body: Buffer.from('Hello, World!'),
      secrets: { current: "It's a Secret to Everybody", next: undefined },
      startedAt: new Date(0),
      isTest: false,
    });
    assert.equal(
      headers['x-service-signature'],
      'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    );
  });

  it('a body with any flipped bit is refused by both libraries (§6.3/request-format)', async () => {
    const { current, body, headers } = sign('Hello');
    for (let place = 0; place < body.length; place += 1) {
      const changed = Buffer.from(body);
      changed[place] = (changed[place] ?? 0) ^ 1;
      const text = changed.toString('utf8');
      assert.equal(await verify(current, text, headers['x-service-signature'] ?? ''), false);
      assert.throws(() => byStandard(current, text, headers), /No matching signature/);
    }
  });

  it('a request that is repeated after 301 seconds or with another id is refused (§6.3/request-format)', () => {
    const old = new Date(performance.timeOrigin + performance.now() - 301_000);
    const replayed = sign('Hello', { at: old });
    assert.throws(() => byStandard(replayed.current, replayed.text, replayed.headers), /too old/);
    const { current, text, headers } = sign('Hello');
    const other = { ...headers, 'webhook-id': 'evt_01h2xcejqtf2nbrexx3vqjhp42' };
    assert.throws(() => byStandard(current, text, other), /No matching signature/);
  });

  it('receivers with either secret verify every header that they read during a rotation (§6.4/replay-and-rotation)', async () => {
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
