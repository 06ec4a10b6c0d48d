import type { PacingWarning } from '#contract/pacing.ts';
import { query } from '#server/database/query.ts';
import type { Queryable } from '#server/database/statement.ts';
import type { NumberId } from '#server/platform/ids/ids.ts';
import type { PacingPolicy } from './pacing-policy.ts';

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
