import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** `unchecked` where no secret was given; `expired` where the time of a Standard Webhooks signature is too far off. */
export type Verdict = 'valid' | 'invalid' | 'missing' | 'expired' | 'unchecked';

export interface Verdicts {
  /** Results for `x-service-signature`. */
  readonly service: Verdict;
  /** Results for the Standard Webhooks headers. */
  readonly standard: Verdict;
}

/** How far the time in `webhook-timestamp` may be off, as Standard Webhooks has it. */
const toleranceSeconds = 300;

/**
 * Judges both signatures of a delivery over the bytes that arrived (specification section 6.3). Any of the secrets
 * will do: during a rotation a receiver knows two.
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
