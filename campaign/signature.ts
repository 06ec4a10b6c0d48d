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
  if (!isSame(ownSignature(secret, body), headers['x-service-signature']))
    return 'x-service-signature does not verify';
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = headers;
  if (!/^\d+$/.test(timestamp) || Math.abs(Number(timestamp) * 1_000 - atMs) > toleranceMs)
    return `webhook-timestamp ${timestamp} is not the current time`;
  const standard = standardSignature(secret, id, timestamp, body);
  const offered = (headers['webhook-signature'] ?? '').split(' ');
  return offered.some((one) => isSame(standard, one)) ? undefined : 'webhook-signature does not verify';
}

/** Makes the headers of a delivery, for made-up histories. @param timestamp seconds since 1970 in a valid one */
export function signedHeaders(secret: string, id: string, type: string, body: Buffer, timestamp: string) {
  return {
    'x-service-event': type,
    'x-service-signature': ownSignature(secret, body),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standardSignature(secret, id, timestamp, body),
  };
}

function ownSignature(secret: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

function standardSignature(secret: string, id: string, timestamp: string, body: Buffer): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

function isSame(expected: string, offered: string | undefined): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(offered ?? '')];
  return one.length === other.length && timingSafeEqual(one, other);
}
