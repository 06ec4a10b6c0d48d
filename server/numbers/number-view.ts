import type { NumberDetail, NumberResource, UpdatedNumber } from '#contract/number.ts';
import type { Pacing, PacingWarning } from '#contract/pacing.ts';
import { inboundCoverageOf } from '#server/devices/inbound-tests.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { NumberFactsRow } from './number-facts-store.ts';
import { deviceChangeView, numberHealthView } from './number-health-view.ts';
import type { NumberListRow, NumberRow } from './number-store.ts';

/** A Number of the API (specification section 2.5). */
export function numberView(number: NumberListRow): NumberResource {
  return {
    ...updatedNumberView(number),
    device_name: number.device_name ?? '',
    last_seen_at: number.last_seen_at?.toISOString() ?? null,
    messages_today: number.messages_today,
    created_at: number.created_at.toISOString(),
    // The field is present only if true, so that the objects of other numbers get no new field.
    ...(number.is_simulated && { simulated: true as const }),
  };
}

/** GET /v1/numbers/:id (specification section 4.2). */
export function numberDetailView(
  number: NumberListRow,
  facts: NumberFactsRow,
  pacing: Pacing,
  pacingWarnings: PacingWarning[],
  now: Date,
): NumberDetail {
  return {
    ...numberView(number),
    on_unconfirmed: number.on_unconfirmed,
    pacing,
    pacing_warnings: pacingWarnings,
    inbound_coverage: inboundCoverageOf(number.received_tests ?? []),
    health: numberHealthView(facts, now),
    device_change: deviceChangeView(facts, now),
  };
}

/** The fields that the answer to PUT /v1/numbers/:id has (specification section 4.2). */
export function updatedNumberView(number: NumberRow): UpdatedNumber {
  return {
    id: publicId('num', number.id),
    phone_number: number.phone_number,
    label: number.label,
    status: number.status,
    verified: number.verified_at !== null,
  };
}
