import { createHmac, timingSafeEqual } from 'node:crypto';

export type Headers = Readonly<Record<string, string>>;

/** Tolerance of Standard Webhooks: a signature whose time is further from now counts as a replay. */
const toleranceMs = 300_000;

/**
 * Verifies a delivery as a receiver does (docs/specification.md section 6.3). The key of `x-service-signature` is the
 * secret's whole text, that of `webhook-signature` the bytes after `whsec_`.
 * @returns the fault as a sentence; undefined if both signatures are valid
 */
export function faultOfSignature(
  secret: string,
  headers: Headers,
  body: Buffer,
  atMs: number,
): string | undefined {
  const own = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  if (!isSame(own, headers['x-service-signature'])) return 'x-service-signature does not verify';
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = headers;
  if (!/^\d+$/.test(timestamp) || Math.abs(Number(timestamp) * 1_000 - atMs) > toleranceMs)
    return `webhook-timestamp ${timestamp} is not the current time`;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const standard = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const offered = (headers['webhook-signature'] ?? '').split(' ');
  return offered.some((one) => isSame(`v1,${standard}`, one))
    ? undefined
    : 'webhook-signature does not verify';
}

/** Makes the headers of a valid delivery, for made-up histories. */
export function signedHeaders(secret: string, id: string, type: string, body: Buffer, atMs: number): Headers {
  const timestamp = String(Math.floor(atMs / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return {
    'x-service-event': type,
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
  };
}

function isSame(expected: string, offered: string | undefined): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(offered ?? '')];
  return one.length === other.length && timingSafeEqual(one, other);
}
