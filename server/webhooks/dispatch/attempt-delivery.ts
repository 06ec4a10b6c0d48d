import { subscribe } from 'node:diagnostics_channel';
import { type AttemptFailure, failureOfStatus } from '#contract/attempt-outcome.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { failpoint, isArmed } from '#server/platform/failpoint.ts';
import { type AttemptId, publicId } from '#server/platform/ids/ids.ts';
import type { OutboundHttp, OutboundOutcome } from '#server/platform/outbound-http/outbound-http.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';
import { deliveryHeaders } from './delivery-headers.ts';
import type { OpenSecrets } from './open-secrets.ts';

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
  return { claimed, id: ids.next('att', startedAt.getTime()), startedAt, ...classify(outcome) };
}

function classify(outcome: OutboundOutcome): Omit<AttemptResult, 'claimed' | 'id' | 'startedAt'> {
  const durationMs = Math.round(outcome.durationMs);
  if (outcome.kind === 'failed') {
    const { class: failure, status } = outcome;
    return {
      durationMs,
      outcome: failure,
      statusCode: status,
      responseBody: undefined,
      responseTruncated: false,
    };
  }
  return {
    durationMs,
    outcome: failureOfStatus(outcome.status) ?? 'succeeded',
    statusCode: outcome.status,
    responseBody: outcome.body,
    responseTruncated: outcome.truncated,
  };
}
