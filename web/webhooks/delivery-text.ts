import type { AttemptFailure } from '#contract/attempt-outcome.ts';
import type {
  AttemptOutcome,
  AttemptSummary,
  Delivery,
  DeliveryStatus,
  ListedDelivery,
} from '#contract/webhook.ts';
import type { missedEventsMax as missedEventsMaxOfContract } from '#contract/webhook-health.ts';
import type { Tone } from '#web/kit/badge.tsx';
import { amount, counted } from '#web/kit/format.ts';

export const statusTexts: Readonly<Record<DeliveryStatus, string>> = {
  pending: 'Waiting',
  succeeded: 'Delivered',
  failed: 'Failed',
  skipped: 'Skipped',
};

const tones: Readonly<Record<DeliveryStatus, Tone>> = {
  pending: 'accent',
  succeeded: 'good',
  failed: 'bad',
  skipped: 'neutral',
};

/**
 * The colour and text of a delivery's badge. Retries have their own, and so do deliveries that were skipped after a
 * failed attempt.
 */
export function statusOf({ status, attempt_count }: Delivery): readonly [Tone, string] {
  if (status === 'pending' && attempt_count > 0) return ['warn', 'Retrying'];
  if (status === 'skipped' && attempt_count > 0) return ['bad', 'Stopped'];
  return [tones[status], statusTexts[status]];
}

/** Describes the outcome of a delivery that is not pending, and the next step. */
export function outcomeText({ status, attempt_count: attempts, test }: Delivery): string {
  if (status === 'succeeded') {
    return attempts > 1
      ? `The receiver accepted it at attempt ${amount(attempts)}.`
      : 'The receiver accepted it.';
  }
  if (test) return 'The test failed. Mend what is described below, then send another one.';
  if (status === 'failed') {
    return `It failed ${attempts === 1 ? 'once' : `${amount(attempts)} times`}, and is not tried again by itself. Mend the receiver, then send it again.`;
  }
  return attempts === 0
    ? 'It was not sent, because the webhook was off.'
    : `It is not tried again, because the webhook was switched off after ${counted(attempts, 'attempt')}.`;
}

const missedEventsMax: typeof missedEventsMaxOfContract = 10_000;

/** Counts missed events: `1 event`, `10,000 events or more`. */
export const missedText = (missed: number): string =>
  missed >= missedEventsMax ? `${counted(missed, 'event')} or more` : counted(missed, 'event');

/** Formats a duration: `120 ms`, `4.2 s`. */
function durationText(ms: number): string {
  return ms < 1_000 ? `${amount(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** Explains the classes of status codes other than 2xx. */
const statusMeanings: Readonly<Partial<Record<AttemptOutcome, string>>> = {
  redirect: 'that is a redirect, which is never followed',
  http_4xx: 'the receiver did not accept the request',
  http_5xx: 'the receiver failed',
};

/** Describes the outcome of an attempt: `It answered 503 after 120 ms: the receiver failed.` */
export function attemptText(attempt: AttemptSummary): string {
  const { status_code: status, duration_ms: ms, error_message: error, outcome } = attempt;
  const after = durationText(ms);
  if (status === null) return `No answer after ${after}. ${error ?? ''}`.trim();
  if (outcome === 'succeeded') return `It answered ${status} after ${after}.`;
  const meaning = statusMeanings[outcome];
  return meaning === undefined
    ? `It answered ${status} after ${after}. ${error ?? ''}`
    : `It answered ${status} after ${after}: ${meaning}.`;
}

/** Describes attempts without a status in a few words. */
const noAnswerTexts: Readonly<Partial<Record<AttemptOutcome, string>>> = {
  timeout: 'no answer in time',
  dns: 'host not found',
  forbidden_address: 'address not allowed',
  connection_refused: 'connection refused',
  tls: 'certificate not trusted',
};

/** The result of the latest attempt in a few words: `503`, `no answer in time`. */
export function lastAnswerText({
  outcome,
  status_code: status,
}: NonNullable<ListedDelivery['last_attempt']>): string {
  return status === null ? (noAnswerTexts[outcome] ?? 'no answer') : String(status);
}

/** Advice for a failed attempt, shown after its description; empty for a success. */
export function adviceOf({
  outcome,
  status_code: status,
}: Pick<AttemptSummary, 'outcome' | 'status_code'>): string {
  if (outcome === 'succeeded') return '';
  if (outcome === 'http_4xx') return advices4xx[status ?? 0] ?? advices.http_4xx;
  return advices[outcome];
}

const signatureAdvice =
  'Check that the receiver uses the secret of this webhook, and verifies the bytes as they arrived.';

const advices4xx: Readonly<Record<number, string>> = {
  401: signatureAdvice,
  403: signatureAdvice,
  404: 'Check the path of the address.',
  405: 'Let the receiver accept POST at this path.',
  410: 'Check the path of the address, or delete the webhook if the receiver is gone.',
  429: 'Let the receiver accept more requests from Ownline.',
};

const log = 'The log of the receiver at that time says why.';

const advices: Readonly<Record<AttemptFailure, string>> = {
  redirect: 'Change the address of the webhook, then send the delivery again.',
  http_4xx: log,
  http_5xx: log,
  timeout: 'Let the receiver answer 200 at once, and do the work afterwards.',
  dns: 'Check the spelling of the host name in the address.',
  forbidden_address:
    'If the receiver is meant to be in a private network, ask the operator of this server to allow it.',
  connection_refused: 'Start the receiver, or correct the host and port in the address.',
  unreachable: 'Check the network and the firewall of the receiver.',
  no_network: 'Ask the operator of this server to check the network of Ownline. It is tried again meanwhile.',
  connection_reset: 'Check the receiver and any proxy before it: the log at that time says more.',
  tls: 'Correct the certificate of the receiver, then send the delivery again.',
  incomplete_answer: 'Check the receiver and any proxy before it: the log at that time says more.',
  invalid_answer: 'Check that an HTTP server listens at that port.',
  headers_too_large: 'Let the receiver answer with fewer headers: a bare 200 is enough.',
  aborted: 'It is tried again by itself.',
  internal_error: 'Ask the operator of this server to look into the log of Ownline.',
};
