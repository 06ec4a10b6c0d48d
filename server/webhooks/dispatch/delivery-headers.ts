import { createHmac } from 'node:crypto';
import { productVersion } from '#server/platform/process/product-version.ts';
import type { SigningSecrets } from '#server/webhooks/endpoints/webhook-secret.ts';

const userAgent = `Ownline/${productVersion}`;

interface SignedDelivery {
  /** The public id of the event, equal in every attempt, so that receivers can deduplicate. */
  readonly eventId: string;
  readonly eventType: string;
  /** The envelope, whose bytes are signed and sent. */
  readonly body: Buffer;
  readonly secrets: SigningSecrets;
  readonly startedAt: Date;
  readonly isTest: boolean;
}

/**
 * Creates the headers of an attempt (specification sections 6.3 and 6.4). The key of `x-service-signature` is the whole
 * text of the secret; that of Standard Webhooks is its decoded base64. During a rotation `webhook-signature` has both
 * signatures, and `x-service-signature-next` is sent beside `x-service-signature`.
 */
export function deliveryHeaders(delivery: SignedDelivery): Record<string, string> {
  const { eventId, eventType, body, secrets, startedAt, isTest } = delivery;
  const timestamp = String(Math.floor(startedAt.getTime() / 1_000));
  const standard = (secret: string) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${eventId}.${timestamp}.`).update(body).digest('base64')}`;
  };
  const { current, next } = secrets;
  return {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'x-service-event': eventType,
    'x-service-signature': serviceSignature(current, body),
    ...(next === undefined ? {} : { 'x-service-signature-next': serviceSignature(next, body) }),
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': next === undefined ? standard(current) : `${standard(current)} ${standard(next)}`,
    ...(isTest ? { 'x-service-test': '1' } : {}),
  };
}

/** Signs the raw body as GitHub does: `sha256=<hex>`. */
function serviceSignature(secret: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}
