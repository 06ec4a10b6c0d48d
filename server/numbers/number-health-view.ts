import type { DeviceChange, NumberHealth } from '#contract/number-health.ts';
import { healthCauseTexts } from '#contract/number-health.ts';
import { likelyCause } from './likely-cause.ts';
import { deviceChangeShownMs, lateAfterMs, offlineAfterMs } from './limits.ts';
import type { NumberFactsRow } from './number-facts-store.ts';

export function numberHealthView(facts: NumberFactsRow, now: Date): NumberHealth {
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
 * When the health state began. Before the change is reported, that is the last poll, or the time at which the silence
 * became too long.
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

/** The difference in the phone's description, for 30 days. */
export function deviceChangeView(facts: NumberFactsRow, now: Date): DeviceChange | null {
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
