import type pg from 'pg';

/** Sent messages to write, each with a hand-out, an event, a feed position, a delivery and an attempt. */
export interface SeededAge {
  /** The messages are spread evenly from this time to `to`. */
  readonly from: Date;
  readonly to: Date;
  readonly messages: number;
}

export const messagesPerContact = 10;

/** Returns the SQL of the smallest UUIDv7 for a time, which is given as SQL, too. */
function sqlFirstIdAt(time: string): string {
  return `(lpad(to_hex((extract(epoch FROM ${time}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
}

/** Writes old messages of the teams in turn. Each team sends from its first number, ten messages to each contact. */
export async function seed(pool: pg.Pool, { from, to, messages }: SeededAge): Promise<void> {
  const at = `timestamptz '${from.toISOString()}' + i * interval '${(to.getTime() - from.getTime()) / messages} ms'`;
  await pool.query(
    `SET synchronous_commit = off;
     CREATE TEMP TABLE owners AS
       SELECT n.*, row_number() OVER (ORDER BY team_id) - 1 AS nth
       FROM (SELECT DISTINCT ON (team_id) team_id, id AS number_id, phone_number FROM numbers ORDER BY team_id, id) n;
     CREATE TEMP TABLE made AS
       SELECT o.team_id, o.number_id, o.phone_number,
         to_char(i / ((SELECT count(*) FROM owners) * ${messagesPerContact}), 'FM0000000') AS digits,
         overlay(${sqlFirstIdAt(`(${at})`)}::text
           PLACING '7000-8000-' || lpad(to_hex(i), 12, '0') FROM 15)::uuid AS id,
         ${at} AS at
       FROM generate_series(1, ${messages}) AS i
       JOIN owners o ON o.nth = i % (SELECT count(*) FROM owners);
     INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, sent_at, hand_out_count, last_event_sequence)
       SELECT team_id, id, number_id, 'outbound', phone_number, '+1212' || digits, 'Your appointment is on Tuesday at 10.', 'sent', at, at, 1, 1 FROM made;
     INSERT INTO hand_outs (message_id, hand_out, team_id, device_id, session_id, handed_out_at, outcome, resolved_at)
       SELECT id, 1, team_id, id, id, at, 'sent', at FROM made;
     INSERT INTO events (team_id, id, type, message_id, number_id, sequence, data, created_at)
       SELECT team_id, id, 'message.sent', id, number_id, 1, '{"content":"' || repeat('x', 300) || '"}', at FROM made;
     INSERT INTO event_feed (team_id, event_id) SELECT team_id, id FROM made ORDER BY id;
     INSERT INTO deliveries (team_id, id, webhook_id, event_id, event_type, status, created_at, finished_at, succeeded_at)
       SELECT team_id, id, number_id, id, 'message.sent', 'succeeded', at, at, at FROM made;
     INSERT INTO attempts (team_id, delivery_id, id, started_at, duration_ms, outcome, status_code, url, is_counted)
       SELECT team_id, id, id, at, 20, 'succeeded', 200, 'https://example.com/hooks', true FROM made;
     DROP TABLE made, owners`,
  );
}

/** Writes the conversations of all sent messages. */
export async function seedConversations(pool: pg.Pool): Promise<void> {
  await pool.query(
    `INSERT INTO conversations (team_id, number_id, contact, id, opened_by, opened_at, unanswered_count, last_activity_at, last_message_id)
     SELECT team_id, number_id, to_handle, max(id::text)::uuid, 'team', min(created_at), count(*), max(created_at), max(id::text)::uuid
     FROM messages WHERE status = 'sent' GROUP BY team_id, number_id, to_handle
     ON CONFLICT DO NOTHING`,
  );
}
