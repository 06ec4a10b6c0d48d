import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** `unchecked`: no secret was given. `expired`: the time of a Standard Webhooks signature is too far from now. */
export type Verdict = 'valid' | 'invalid' | 'missing' | 'expired' | 'unchecked';

export interface Verdicts {
  readonly service: Verdict;
  /** Verdict on the Standard Webhooks headers. */
  readonly standard: Verdict;
}

/** The largest difference that Standard Webhooks allows between `webhook-timestamp` and now. */
const toleranceSeconds = 300;

/**
 * Verifies both signatures of a delivery over its body (specification section 6.3). Any of the secrets may match,
 * because a receiver knows two during a rotation.
 */
export function verifySignatures(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secrets: readonly string[],
  nowMs: number,
): Verdicts {
  if (secrets.length === 0) return { service: 'unchecked', standard: 'unchecked' };
  return {
    service: judgeService(headers, body, secrets),
    standard: judgeStandard(headers, body, secrets, nowMs),
  };
}

function judgeService(headers: IncomingHttpHeaders, body: Buffer, secrets: readonly string[]): Verdict {
  const given = headers['x-service-signature'];
  if (typeof given !== 'string') return 'missing';
  const isRight = secrets.some((secret) =>
    same(given, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`),
  );
  return isRight ? 'valid' : 'invalid';
}

function judgeStandard(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secrets: readonly string[],
  nowMs: number,
): Verdict {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof given !== 'string') return 'missing';
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const rights = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  if (!given.split(' ').some((one) => rights.some((right) => same(one, right)))) return 'invalid';
  return Math.abs(nowMs / 1_000 - Number(timestamp)) <= toleranceSeconds ? 'valid' : 'expired';
}

function same(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
