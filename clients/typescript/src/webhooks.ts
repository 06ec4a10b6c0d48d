import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Event } from './openapi.ts';

/** A request that is not a delivery of Ownline, or whose time is too old. Answer it with 401. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

export interface VerifyOptions {
  /**
   * The signature to verify: `standard` is that of Standard Webhooks, which includes the time; `service` is
   * `x-service-signature`, for receivers that get no other header. `standard` by default.
   */
  readonly signature?: 'standard' | 'service';
  /** The greatest difference between the time of a delivery and the own clock. 300 by default. */
  readonly toleranceSeconds?: number;
}

/** A secret has at least 24 bytes (Standard Webhooks), in base64 with its `=` at the end. */
const secretPattern = /^whsec_(?=(.{4})+$)[A-Za-z0-9+/]{32,}={0,2}$/;

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a delivery, and returns its event. During a rotation both secrets are accepted.
 * @param body the bytes as they arrived, before any JSON parser
 * @param headers with names in any case
 * @param secret `whsec_…`
 * @throws WebhookVerificationError
 * @throws TypeError for a text that is no secret of a webhook, because every sender can sign with an empty one
 */
export function verify(
  body: Uint8Array | string,
  headers: Headers | HeaderRecord,
  secret: string,
  { signature = 'standard', toleranceSeconds = 300 }: VerifyOptions = {},
): Event {
  if (!secretPattern.test(secret)) throw new TypeError('The secret must be that of a webhook, whsec_….');
  const bytes = Buffer.from(body as string);
  const read = createHeaderReader(headers);
  const isValid = signature === 'standard' ? isStandard(bytes, read, secret) : isService(bytes, read, secret);
  if (!isValid) throw new WebhookVerificationError(`The ${signature} signature is missing or not valid.`);
  if (signature === 'standard') checkTime(read('webhook-timestamp'), toleranceSeconds);
  return JSON.parse(bytes.toString()) as Event;
}

function checkTime(timestamp: string, toleranceSeconds: number): void {
  if (!/^[0-9]{1,12}$/.test(timestamp))
    throw new WebhookVerificationError('The time of the delivery is not a number of seconds.');
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError('The time of the delivery is too far from the own clock.');
}

type ReadHeader = (name: string) => string;

/** Reads headers by names in any case: some gateways pass names on as they were sent, and not in lower case. */
function createHeaderReader(headers: Headers | HeaderRecord): ReadHeader {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const values = new Map(entries.map(([name, value]) => [name.toLowerCase(), String(value ?? '')]));
  return (name) => values.get(name) ?? '';
}

function isStandard(body: Buffer, read: ReadHeader, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = createHmac('sha256', key).update(`${read('webhook-id')}.${read('webhook-timestamp')}.`);
  const right = `v1,${signed.update(body).digest('base64')}`;
  return read('webhook-signature')
    .split(' ')
    .some((given) => isEqual(given, right));
}

function isService(body: Buffer, read: ReadHeader, secret: string): boolean {
  const right = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return ['x-service-signature', 'x-service-signature-next'].some((name) => isEqual(read(name), right));
}

/** Compares in constant time. */
function isEqual(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
