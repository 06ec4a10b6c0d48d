import { attemptFailures } from '#contract/attempt-outcome.ts';
import type { Attempt, AttemptSummary, Delivery, DeliveryDetail, ListedDelivery } from '#contract/webhook.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { AttemptRow, AttemptSummaryRow, DeliveryRow, LastAttemptRow } from './delivery-store.ts';

const time = (moment: Date | null) => moment?.toISOString() ?? null;

/** The Delivery object of the API (specification section 4.4). */
export function deliveryView(delivery: DeliveryRow): Delivery {
  return {
    id: publicId('dlv', delivery.id),
    webhook_id: publicId('wh', delivery.webhook_id),
    event_id: publicId('evt', delivery.event_id),
    event_type: delivery.event_type,
    test: delivery.is_test,
    status: delivery.status,
    attempt_count: delivery.attempt_count,
    next_attempt_at: time(delivery.due_at),
    created_at: delivery.created_at.toISOString(),
    finished_at: time(delivery.finished_at),
  };
}

/** A delivery in the dashboard's list, with its latest attempt. */
export function listedDeliveryView(delivery: DeliveryRow, last: LastAttemptRow | undefined): ListedDelivery {
  return {
    ...deliveryView(delivery),
    last_attempt: last ? { outcome: last.outcome, status_code: last.status_code } : null,
  };
}

/** @param attempts newest first */
export function deliveryDetailView(delivery: DeliveryRow, attempts: readonly AttemptRow[]): DeliveryDetail {
  return { ...deliveryView(delivery), attempts: attempts.toReversed().map(attemptView) };
}

function attemptView(attempt: AttemptRow): Attempt {
  const { response_body: body } = attempt;
  return {
    ...attemptSummaryView(attempt),
    // Invalid UTF-8, and a character cut in two at the end, becomes U+FFFD.
    response_body: body === null ? null : body.toString('utf8'),
    response_truncated: attempt.response_truncated,
  };
}

/** An attempt without the body of the response. */
export function attemptSummaryView(attempt: AttemptSummaryRow): AttemptSummary {
  const { outcome } = attempt;
  return {
    id: publicId('att', attempt.id),
    started_at: attempt.started_at.toISOString(),
    duration_ms: attempt.duration_ms,
    outcome,
    error_message: outcome === 'succeeded' ? null : attemptFailures[outcome],
    status_code: attempt.status_code,
    url: attempt.url,
  };
}
