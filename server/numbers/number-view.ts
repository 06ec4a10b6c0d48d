import type { NumberDetail, NumberResource, UpdatedNumber } from '#contract/number.ts';
import type { Pacing, PacingWarning } from '#contract/pacing.ts';
import { inboundCoverageOf } from '#server/devices/inbound-tests.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { NumberListRow, NumberRow } from './number-store.ts';

/** A Number of the API (specification section 2.5). */
export function numberView(number: NumberListRow): NumberResource {
  return {
    ...updatedNumberView(number),
    device_name: number.device_name ?? '',
    last_seen_at: number.last_seen_at?.toISOString() ?? null,
    messages_today: number.messages_today,
    created_at: number.created_at.toISOString(),
    // Only where it is true: objects of other numbers keep their fields.
    ...(number.is_simulated && { simulated: true as const }),
  };
}

/** GET /v1/numbers/:id (specification section 4.2). */
export function numberDetailView(
  number: NumberListRow,
  pacing: Pacing,
  pacingWarnings: PacingWarning[],
): NumberDetail {
  return {
    ...numberView(number),
    on_unconfirmed: number.on_unconfirmed,
    pacing,
    pacing_warnings: pacingWarnings,
    inbound_coverage: inboundCoverageOf(number.received_tests ?? []),
  };
}

/** The fields that PUT /v1/numbers/:id answers with (specification section 4.2). */
export function updatedNumberView(number: NumberRow): UpdatedNumber {
  return {
    id: publicId('num', number.id),
    phone_number: number.phone_number,
    label: number.label,
    status: number.status,
    verified: number.verified_at !== null,
  };
}
