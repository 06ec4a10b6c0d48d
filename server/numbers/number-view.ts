import { healthCauseTexts } from '#contract/health-causes.ts';
import type { NumberDetail, NumberResource, UpdatedNumber } from '#contract/number.ts';
import type { DeviceChange, NumberHealth } from '#contract/number-health.ts';
import type { Pacing, PacingWarning } from '#contract/pacing.ts';
import { inboundCoverageOf } from '#server/devices/inbound-tests.ts';
import { publicId } from '#server/platform/ids.ts';
import { deviceChangeShownMs, lateAfterMs, offlineAfterMs } from './limits.ts';
import { likelyCause } from './number-health.ts';
import type { NumberFactsRow, NumberListRow, NumberRow } from './number-store.ts';

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

function numberHealthView(facts: NumberFactsRow, now: Date): NumberHealth {
  const cause = likelyCause(facts, now);
  const texts = cause && healthCauseTexts[cause];
  return {
    state: facts.state,
    since: since(facts, now).toISOString(),
    last_seen_at: facts.last_seen_at?.toISOString() ?? null,
    cause,
    advice: texts ? `${texts.cause} ${texts.advice}` : '',
  };
}

/**
 * When the health state began. Until the change is reported, the beginning is the last poll, or the time at which the
 * silence became too long.
 */
function since(facts: NumberFactsRow, now: Date): Date {
  const { state, reported_state: reported, reported_at: reportedAt, last_seen_at: lastSeenAt } = facts;
  const lastSeenMs = (lastSeenAt ?? facts.verified_at ?? facts.created_at).getTime();
  switch (state) {
    case 'pending':
      return facts.created_at;
    case 'online':
      if (reported === 'offline') return new Date(lastSeenMs);
      return reportedAt ?? facts.verified_at ?? facts.created_at;
    case 'late':
      return new Date(Math.min(lastSeenMs + lateAfterMs, now.getTime()));
    case 'offline':
      if (reported === 'offline' && reportedAt !== null) return reportedAt;
      return new Date(Math.min(lastSeenMs + offlineAfterMs, now.getTime()));
  }
}

/** How the phone's description changed; null from 30 days after the change. */
function deviceChangeView(facts: NumberFactsRow, now: Date): DeviceChange | null {
  const changedAt = facts.device_changed_at;
  if (changedAt === null || now.getTime() - changedAt.getTime() >= deviceChangeShownMs) return null;
  return {
    at: changedAt.toISOString(),
    device_name: facts.device_name,
    os: facts.system_version,
    previous_device_name: facts.previous_name ?? '',
    previous_os: facts.previous_system_version ?? '',
  };
}
