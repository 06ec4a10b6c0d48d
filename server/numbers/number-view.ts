import type { NumberDetail, NumberResource, NumberStatus, UpdatedNumber } from '#contract/number.ts';
import {
  type DeviceChange,
  type HealthState,
  healthCauseTexts,
  type NumberHealth,
} from '#contract/number-health.ts';
import type { Pacing, PacingWarning } from '#contract/pacing.ts';
import { query } from '#server/database/query.ts';
import type { NumberKey } from '#server/devices/device-store.ts';
import { anyText, inboundCoverageOf } from '#server/devices/inbound-tests.ts';
import { type NumberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { deviceChangeShownMs, lateAfterMs, offlineAfterMs } from './limits.ts';
import {
  type CauseFacts,
  likelyCause,
  sqlHealthOfNumber,
  sqlHealthSources,
  sqlHealthState,
} from './number-health.ts';
import { type NumberListRow, type NumberRow, sqlReadyAndHeld } from './number-store.ts';

/** Facts about a number that decide its health, and the count of its waiting messages. */
export interface NumberFactsRow extends CauseFacts {
  readonly id: NumberId;
  readonly phone_number: string;
  readonly label: string;
  readonly device_name: string;
  readonly system_version: string;
  /** When the device last described itself differently at a takeover; null if it never did. */
  readonly device_changed_at: Date | null;
  readonly previous_name: string | null;
  readonly previous_system_version: string | null;
  readonly status: NumberStatus;
  readonly created_at: Date;
  readonly verified_at: Date | null;
  /** The latest health change that was reported; null if there was none. */
  readonly reported_state: 'online' | 'offline' | null;
  readonly reported_at: Date | null;
  readonly waiting_messages: number;
  readonly oldest_waiting_at: Date | null;
  /** Whether any phone of the number has passed on a text. */
  readonly has_received: boolean;
}

/**
 * Lists the facts of a team's numbers; of all if `numberIds` is null. `waitingMax` is the upper bound on the counted
 * messages of a number.
 */
export const listNumberFacts = query<
  { teamId: TeamId; now: Date; numberIds: readonly NumberId[] | null; waitingMax: number },
  NumberFactsRow
>(
  'numbers.facts',
  `SELECT n.id, n.phone_number, n.label, n.status, n.is_simulated, coalesce(d.name, '') AS device_name, coalesce(d.system_version, '') AS system_version,
     d.changed_at AS device_changed_at, d.previous_name, d.previous_system_version, n.created_at, n.verified_at, s.last_seen_at,
     ${sqlHealthState(':now')} AS state, h.state AS reported_state, h.since AS reported_at,
     coalesce(s.handed_out_at >= s.last_seen_at, false) AS has_taken_message, coalesce(s.left_at >= s.last_seen_at, false) AS has_left,
     l.link_is_open, l.link_has_device, l.link_has_polled, w.waiting_messages, w.oldest_waiting_at,
     EXISTS (SELECT FROM devices e WHERE e.number_id = n.id AND '${anyText}' = ANY (e.received_tests)) AS has_received
   FROM numbers n
   ${sqlHealthSources()}
   LEFT JOIN devices d ON d.team_id = s.team_id AND d.id = s.device_id
   LEFT JOIN LATERAL (
     SELECT l.ended_at IS NULL AND l.expires_at > :now AS link_is_open, c.id IS NOT NULL AS link_has_device,
       o.device_id IS NOT NULL AS link_has_polled
     FROM setup_links l
     LEFT JOIN devices c ON c.team_id = l.team_id AND c.setup_link_id = l.id
     LEFT JOIN device_sessions o ON o.number_id = l.number_id AND o.device_id = c.id
     WHERE l.number_id = n.id ORDER BY l.generation DESC LIMIT 1
   ) l ON true
   CROSS JOIN LATERAL (
     SELECT least(count(*), :waitingMax) AS waiting_messages, min(q.queued_at) AS oldest_waiting_at
     FROM ${sqlReadyAndHeld} CROSS JOIN LATERAL (
       SELECT q.queued_at FROM send_queue q WHERE q.number_id = n.id AND q.is_ready = h.is_ready ORDER BY q.number_id, q.seq LIMIT :waitingMax
     ) q
   ) w
   WHERE n.team_id = :teamId AND n.deleted_at IS NULL AND (:numberIds::uuid[] IS NULL OR n.id = ANY (:numberIds::uuid[]))`,
).rows;

export const findHealth = query<NumberKey & { now: Date }, { health: HealthState }>(
  'numbers.find-health',
  `SELECT ${sqlHealthOfNumber('n', ':now')} AS health FROM numbers n WHERE n.team_id = :teamId AND n.id = :numberId`,
).row;

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
