import type { AttemptOutcome, AttemptSummary, Delivery, ListedDelivery } from '#contract/webhook.ts';
import type { missedEventsMax as missedEventsMaxOfContract } from '#contract/webhook-health.ts';
import type { Tone } from '#web/kit/badge.tsx';
import { deliveryTones } from './delivery-tones.ts';
import { texts } from './texts.ts';

/**
 * The colour and text of a delivery's badge, with own ones for retries and for deliveries skipped after a failed
 * attempt.
 */
export function statusOf({ status, attempt_count }: Delivery): readonly [Tone, string] {
  if (status === 'pending' && attempt_count > 0) return ['warn', texts.statuses.retrying];
  if (status === 'skipped' && attempt_count > 0) return ['bad', texts.statuses.stopped];
  return [deliveryTones[status], texts.statuses[status]];
}

/** Describes the outcome of a delivery that is not pending, and the next step. */
export function outcomeText({ status, attempt_count: attempts, test }: Delivery): string {
  if (status === 'succeeded') {
    return attempts > 1 ? texts.outcomes.acceptedAt({ attempt: attempts }) : texts.outcomes.accepted;
  }
  if (test) return texts.outcomes.testFailed;
  if (status === 'failed') return texts.outcomes.failed({ count: attempts });
  return attempts === 0 ? texts.outcomes.notSent : texts.outcomes.stopped({ count: attempts });
}

const missedEventsMax: typeof missedEventsMaxOfContract = 10_000;

/** Counts missed events: `1 event`, `10,000 events or more`. */
export const missedText = (missed: number): string =>
  missed >= missedEventsMax ? texts.manyMissed({ count: missed }) : texts.missed({ count: missed });

/** Formats a duration: `120 ms`, `4.2 s`. */
function durationText(ms: number): string {
  return ms < 1_000
    ? texts.attempt.milliseconds({ count: ms })
    : texts.attempt.seconds({ count: Math.round(ms / 100) / 10 });
}

/** Explains the classes of status codes other than 2xx. */
const meanings: Readonly<Partial<Record<AttemptOutcome, string>>> = texts.meanings;

/** Describes the outcome of an attempt: `It answered 503 after 120 ms: the receiver failed.` */
export function attemptText(attempt: AttemptSummary): string {
  const { status_code: status, duration_ms: ms, error_message: error, outcome } = attempt;
  const span = durationText(ms);
  if (status === null) return `${texts.attempt.noAnswer({ span })} ${error ?? ''}`.trim();
  const meaning = meanings[outcome];
  if (meaning !== undefined) return texts.attempt.answeredMeaning({ status, span, meaning });
  return `${texts.attempt.answered({ status, span })} ${error ?? ''}`.trim();
}

/** Describes attempts without a status in a few words. */
const noAnswers: Readonly<Partial<Record<AttemptOutcome, string>>> = texts.noAnswers;

/** The result of the latest attempt in a few words: `503`, `no answer in time`. */
export function lastAnswerText({
  outcome,
  status_code: status,
}: NonNullable<ListedDelivery['last_attempt']>): string {
  return status === null ? (noAnswers[outcome] ?? texts.noAnswers.any) : String(status);
}

const { advice } = texts;

const advice4xx: Readonly<Record<number, string>> = {
  401: advice.signature,
  403: advice.signature,
  404: advice.path,
  405: advice.post,
  410: advice.gone,
  429: advice.rate,
};

/** Advice for a failed attempt, shown after its description; empty for a success. */
export function adviceOf({
  outcome,
  status_code: status,
}: Pick<AttemptSummary, 'outcome' | 'status_code'>): string {
  if (outcome === 'succeeded') return '';
  if (outcome === 'http_4xx') return advice4xx[status ?? 0] ?? advice.http_4xx;
  return advice[outcome];
}
