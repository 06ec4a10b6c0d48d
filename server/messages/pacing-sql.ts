/*
 * Pacing in SQL (specification section 8, decision 0026). The claim of a message and the explanation of its wait share
 * these fragments.
 */

/** A stored time further ahead than this was written before the clock was set back, and sets no limit. */
export const clockSlack = "interval '10 seconds'";

/**
 * The pacing policy of a number as LATERAL `p`: its own settings over the defaults.
 * @param defaults parameter with the default policy, as JSON
 * @param own column with the number's settings; it may be NULL
 */
export function sqlPacingPolicy(defaults: string, own: string): string {
  return `CROSS JOIN LATERAL jsonb_to_record(${defaults}::jsonb || coalesce(${own}, '{}')) AS p (mode text,
       gap_min_seconds integer, gap_max_seconds integer, messages_per_hour integer, messages_per_day integer,
       new_contacts_per_hour integer, new_contacts_per_day integer, unanswered_per_contact integer)`;
}

/**
 * SQL for the time from which a limit allows one more hand-out: that of the `limit`-th latest hand-out, plus the
 * window's length.
 */
function sqlHandOutWindow(row: string, limit: string, length: string, now: string): string {
  return `(SELECT r.handed_out_at + interval '${length}' FROM recent_hand_outs r
         WHERE r.number_id = ${row}.number_id AND r.ordinal = ${row}.hand_out_total - p.${limit} + 1
           AND r.handed_out_at <= ${now}::timestamptz + ${clockSlack})`;
}

function sqlNewContactWindow(row: string, limit: string, length: string, now: string): string {
  return `(SELECT c.opened_at + interval '${length}' FROM conversations c
         WHERE c.number_id = ${row}.number_id AND c.opened_by = 'team'
           AND c.opened_at > ${now}::timestamptz - interval '${length}' AND c.opened_at <= ${now}::timestamptz + ${clockSlack}
         ORDER BY c.number_id DESC, c.opened_at DESC OFFSET p.${limit} - 1 LIMIT 1)`;
}

/**
 * The times from which a number may send again, as LATERAL `w`: gap_until, hour_until, day_until, and
 * new_contacts_until under strict. NULL or a past time means now. If pacing is off, none of the times is computed. The
 * gap counts from the later of the last hand-out and its report. The length of the gap is derived from a hash of
 * that hand-out, so that every process computes the same.
 * @param row alias of a row with number_id and hand_out_total
 * @param now parameter with the time
 */
export function sqlPacingWindows(row: string, now: string): string {
  return `LEFT JOIN LATERAL (
       SELECT (
         SELECT e.ended_at + interval '1 millisecond' * (1000 * p.gap_min_seconds
             + (p.gap_max_seconds - p.gap_min_seconds) * abs(uuid_hash_extended(e.message_id, e.ordinal) % 10001) / 10)
         FROM (
           SELECT r.message_id, r.ordinal, greatest(r.handed_out_at, h.resolved_at) AS ended_at FROM recent_hand_outs r
           LEFT JOIN LATERAL (
             SELECT h.resolved_at FROM hand_outs h WHERE h.message_id = r.message_id AND h.hand_out = r.hand_out OFFSET 0
           ) h ON true
           WHERE r.number_id = ${row}.number_id AND r.ordinal = ${row}.hand_out_total
         ) e WHERE e.ended_at <= ${now}::timestamptz + ${clockSlack}
       ) AS gap_until,
       ${sqlHandOutWindow(row, 'messages_per_hour', '1 hour', now)} AS hour_until,
       ${sqlHandOutWindow(row, 'messages_per_day', '1 day', now)} AS day_until,
       CASE WHEN p.mode = 'strict' THEN greatest(
         ${sqlNewContactWindow(row, 'new_contacts_per_hour', '1 hour', now)},
         ${sqlNewContactWindow(row, 'new_contacts_per_day', '1 day', now)}
       ) END AS new_contacts_until
       WHERE p.mode <> 'off' OFFSET 0
     ) w ON true`;
}

/**
 * The SQL condition that strict pacing lets a message go: its contact has replied, or is new and the limits allow a new
 * contact. It reads the policy `p` and the times `w`, which `sqlPacingWindows` computes.
 * @param queued alias of the message in send_queue
 */
export function sqlContactMaySend(queued: string, now: string): string {
  return `(p.mode <> 'strict' OR coalesce(
           (SELECT c.unanswered_count < p.unanswered_per_contact FROM conversations c
            WHERE c.number_id = ${queued}.number_id AND c.contact = ${queued}.to_handle),
           w.new_contacts_until IS NULL OR w.new_contacts_until <= ${now}))`;
}
