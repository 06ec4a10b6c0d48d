import {
  type Pacing,
  type PacingMode,
  type PacingSetting,
  type PacingWarning,
  pacingLimitNames,
  pacingModes,
} from '#contract/pacing.ts';
import { type Queryable, query } from '#server/database/query.ts';
import { invalid } from '#server/platform/app-error.ts';
import type { NumberId } from '#server/platform/ids.ts';

/** The pacing that applies to a number: its mode and every limit. */
export type PacingPolicy = Omit<Pacing, 'set_by_number'>;

/** A number's own pacing settings; missing fields have the defaults. */
export type OwnPacing = Partial<PacingPolicy>;

/** The default limits of the pacing modes gentle and strict (specification section 8). */
const defaultLimits: Omit<PacingPolicy, 'mode'> = {
  gap_min_seconds: 2,
  gap_max_seconds: 5,
  messages_per_hour: 100,
  messages_per_day: 300,
  new_contacts_per_hour: 15,
  new_contacts_per_day: 50,
  unanswered_per_contact: 5,
};

/** The pacing of a number without own settings. @param mode the setting PACING */
export function defaultPacing(mode: PacingMode): PacingPolicy {
  return { mode, ...defaultLimits };
}

/**
 * The pacing that applies to a number. The claim of a message merges own settings and defaults in the same way in SQL.
 */
export function effectivePacing(mode: PacingMode, own: OwnPacing | null): PacingPolicy {
  return { ...defaultPacing(mode), ...own };
}

/**
 * Returns the fields of a setting that the database stores.
 * @throws AppError 400, param pacing, if the shortest gap exceeds the longest
 */
export function ownPacing(setting: PacingSetting | null): OwnPacing | null {
  if (setting === null) return null;
  const { mode, ...limits } = setting;
  const { gap_min_seconds: min, gap_max_seconds: max } = { ...defaultLimits, ...limits };
  if (min > max) {
    throw invalid(
      'pacing',
      `pacing.gap_max_seconds, ${max}, must be at least pacing.gap_min_seconds, ${min}. Send both.`,
    );
  }
  const own = pacingModes.find((known) => known === mode);
  const stored = { ...(own && { mode: own }), ...limits };
  return Object.keys(stored).length === 0 ? null : stored;
}

/** The pacing as GET /v1/numbers/:id shows it. */
export function pacingView(mode: PacingMode, own: OwnPacing | null): Pacing {
  const names = ['mode', ...pacingLimitNames] as const;
  return { ...effectivePacing(mode, own), set_by_number: names.filter((name) => own?.[name] !== undefined) };
}

const hourMs = 3_600_000;

/** How many of a number's latest hand-outs are examined for new contacts. */
const handOutsExaminedMax = 1_000;

const countConversations = query<
  { numberId: NumberId; hourAgo: Date; dayAgo: Date; perHour: number; perDay: number; unanswered: number },
  { opened_in_hour: number; opened_in_day: number; has_unanswered: boolean }
>(
  'numbers.count-conversations',
  `SELECT
     (SELECT count(*) FROM (SELECT FROM conversations c WHERE c.number_id = :numberId AND c.opened_by = 'team' AND c.opened_at > :hourAgo
       LIMIT :perHour::int + 1) o) AS opened_in_hour,
     (SELECT count(*) FROM (SELECT FROM conversations c WHERE c.number_id = :numberId AND c.opened_by = 'team' AND c.opened_at > :dayAgo
       LIMIT :perDay::int + 1) o) AS opened_in_day,
     EXISTS (
       SELECT FROM (SELECT r.contact, r.handed_out_at FROM recent_hand_outs r WHERE r.number_id = :numberId ORDER BY r.ordinal DESC
         LIMIT ${handOutsExaminedMax}) r
       JOIN conversations c ON c.number_id = :numberId AND c.contact = r.contact
       WHERE r.handed_out_at > :dayAgo AND c.unanswered_count >= :unanswered) AS has_unanswered`,
).one;

/** The limits of new and unanswered contacts that a number exceeds (specification section 8). */
export async function listPacingWarnings(
  db: Queryable,
  numberId: NumberId,
  policy: PacingPolicy,
  now: Date,
): Promise<PacingWarning[]> {
  if (policy.mode === 'off') return [];
  const found = await countConversations(db, {
    numberId,
    hourAgo: new Date(now.getTime() - hourMs),
    dayAgo: new Date(now.getTime() - 24 * hourMs),
    perHour: policy.new_contacts_per_hour,
    perDay: policy.new_contacts_per_day,
    unanswered: policy.unanswered_per_contact,
  });
  const isPast: Readonly<Record<PacingWarning, boolean>> = {
    new_contacts_per_hour: found.opened_in_hour > policy.new_contacts_per_hour,
    new_contacts_per_day: found.opened_in_day > policy.new_contacts_per_day,
    unanswered_per_contact: found.has_unanswered,
  };
  return (Object.keys(isPast) as PacingWarning[]).filter((name) => isPast[name]);
}
