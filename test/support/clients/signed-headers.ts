import { createHmac } from 'node:crypto';

/**
 * Signs a body in both formats, with any text as the secret and as the time, for requests that a client must refuse.
 * @param timestamp seconds since 1970 in a genuine delivery
 */
export function signedHeaders(
  secret: string,
  timestamp: string,
  body: Buffer,
): Readonly<Record<string, string>> {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const standard = createHmac('sha256', key).update(`evt_signed.${timestamp}.`).update(body).digest('base64');
  return {
    'webhook-id': 'evt_signed',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${standard}`,
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  };
}
