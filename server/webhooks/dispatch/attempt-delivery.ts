import { createHmac } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { type AttemptFailure, failureOfStatus } from '#contract/attempt-outcome.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { BoundedMap } from '#server/platform/bounded-map.ts';
import type { Secrets } from '#server/platform/crypto.ts';
import { failpoint, isArmed } from '#server/platform/failpoint.ts';
import { type AttemptId, publicId, type WebhookId } from '#server/platform/ids.ts';
import type { OutboundHttp, OutboundOutcome } from '#server/platform/outbound-http/outbound-http.ts';
import { productVersion } from '#server/platform/process/product-version.ts';
import {
  type SealedSecrets,
  type SigningSecrets,
  signingSecrets,
} from '#server/webhooks/endpoints/webhook-secret.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';

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

type OpenSecrets = (webhook: SealedSecrets & { readonly webhook_id: WebhookId }, at: Date) => SigningSecrets;

const keptMax = 1_000;

/**
 * Opens sealed secrets once and caches them, because opening takes longer than signing. The cache is keyed by the
 * sealed bytes, so that a changed secret is used at once.
 */
export function createOpenSecrets(secrets: Secrets): OpenSecrets {
  const kept = new BoundedMap<string, SigningSecrets>(keptMax);
  return (webhook, at) => {
    const { secret, next_secret, next_secret_from } = webhook;
    const isRotated = next_secret_from !== null && next_secret_from <= at;
    const key = [secret, next_secret].map((sealed) => sealed?.toString('latin1')).join(isRotated ? '>' : '|');
    const known = kept.get(key);
    if (known) return known;
    const opened = signingSecrets(secrets, webhook.webhook_id, webhook, at);
    kept.set(key, opened);
    return opened;
  };
}

/** An attempt with its result, ready to be recorded. */
export interface AttemptResult {
  readonly claimed: ClaimedDelivery;
  readonly id: AttemptId;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly outcome: 'succeeded' | AttemptFailure;
  readonly statusCode: number | undefined;
  /** The body of the response, as far as it arrived. */
  readonly responseBody: Buffer | undefined;
  readonly responseTruncated: boolean;
}

export interface AttemptServices extends Runtime {
  readonly outbound: Pick<OutboundHttp, 'send'>;
  readonly openSecrets: OpenSecrets;
}

/**
 * Makes one attempt of a delivery, outside of a transaction (specification section 6.3). A failure of the receiver is a
 * result, not an exception.
 * @param text the envelope
 */
export async function attemptDelivery(
  { clock, ids, config, outbound, openSecrets }: AttemptServices,
  claimed: ClaimedDelivery,
  text: string,
  signal: AbortSignal,
): Promise<AttemptResult> {
  if (isArmed('delivery sent')) subscribe('undici:request:bodySent', () => failpoint('delivery sent'));
  const startedAt = clock.now();
  const body = Buffer.from(text, 'utf8');
  const headers = deliveryHeaders({
    eventId: publicId('evt', claimed.event_id),
    eventType: claimed.event_type,
    body,
    secrets: openSecrets(claimed, startedAt),
    startedAt,
    isTest: claimed.is_test,
  });
  const outcome = await outbound.send({
    url: claimed.url,
    method: 'POST',
    headers,
    body,
    timeoutMs: config.webhookTimeoutMs,
    signal,
  });
  failpoint('delivery answered');
  const durationMs = Math.round(outcome.durationMs);
  return { claimed, id: ids.next('att', startedAt.getTime()), startedAt, durationMs, ...resultOf(outcome) };
}

function resultOf(
  outcome: OutboundOutcome,
): Pick<AttemptResult, 'outcome' | 'statusCode' | 'responseBody' | 'responseTruncated'> {
  if (outcome.kind === 'failed') {
    const { class: failure, status } = outcome;
    return { outcome: failure, statusCode: status, responseBody: undefined, responseTruncated: false };
  }
  return {
    outcome: failureOfStatus(outcome.status) ?? 'succeeded',
    statusCode: outcome.status,
    responseBody: outcome.body,
    responseTruncated: outcome.truncated,
  };
}
