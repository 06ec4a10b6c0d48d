import type { PacingWarning } from '#contract/pacing.ts';
import { type Queryable, statement } from '#server/database/statement.ts';
import type { NumberId } from '#server/platform/ids/ids.ts';
import type { PacingPolicy } from './pacing-policy.ts';

const hourMs = 3_600_000;

/** How many of a number's latest hand-outs are examined for new contacts. */
const handOutsExaminedMax = 1_000;

interface Counts {
  readonly opened_in_hour: number;
  readonly opened_in_day: number;
  readonly has_unanswered: boolean;
}

const countConversations = statement<[NumberId, Date, Date, number, number, number], Counts>(
  'numbers.count-conversations',
  `SELECT
     (SELECT count(*) FROM (SELECT FROM conversations c WHERE c.number_id = $1 AND c.opened_by = 'team' AND c.opened_at > $2
       LIMIT $4::int + 1) o) AS opened_in_hour,
     (SELECT count(*) FROM (SELECT FROM conversations c WHERE c.number_id = $1 AND c.opened_by = 'team' AND c.opened_at > $3
       LIMIT $5::int + 1) o) AS opened_in_day,
     EXISTS (
       SELECT FROM (SELECT r.contact, r.handed_out_at FROM recent_hand_outs r WHERE r.number_id = $1 ORDER BY r.ordinal DESC
         LIMIT ${handOutsExaminedMax}) r
       JOIN conversations c ON c.number_id = $1 AND c.contact = r.contact
       WHERE r.handed_out_at > $3 AND c.unanswered_count >= $6) AS has_unanswered`,
);

/** The limits of new and unanswered contacts that a number exceeds (specification section 8). */
export async function listPacingWarnings(
  db: Queryable,
  numberId: NumberId,
  policy: PacingPolicy,
  now: Date,
): Promise<PacingWarning[]> {
  if (policy.mode === 'off') return [];
  const found = await countConversations.row(
    db,
    numberId,
    new Date(now.getTime() - hourMs),
    new Date(now.getTime() - 24 * hourMs),
    policy.new_contacts_per_hour,
    policy.new_contacts_per_day,
    policy.unanswered_per_contact,
  );
  if (!found) return [];
  const isPast: Readonly<Record<PacingWarning, boolean>> = {
    new_contacts_per_hour: found.opened_in_hour > policy.new_contacts_per_hour,
    new_contacts_per_day: found.opened_in_day > policy.new_contacts_per_day,
    unanswered_per_contact: found.has_unanswered,
  };
  return (Object.keys(isPast) as PacingWarning[]).filter((name) => isPast[name]);
}
