import type { WaitingReason } from '#contract/message.ts';
import { type Queryable, statement } from '#server/database/statement.ts';
import { offlineAfterMs } from './limits.ts';
import type { MessageRow } from './message.ts';

interface Circumstances {
  readonly number_status: 'active' | 'paused';
  readonly last_seen_at: Date | null;
  readonly busy: boolean;
  readonly earlier: boolean;
  readonly fetching: boolean;
}

const circumstances = statement<Circumstances>(
  'messages.waiting-circumstances',
  `SELECT n.status AS number_status, s.last_seen_at,
     EXISTS (SELECT FROM in_flight f WHERE f.number_id = n.id) AS busy,
     EXISTS (SELECT FROM send_queue q JOIN send_queue mine ON mine.team_id = n.team_id AND mine.message_id = $3
             WHERE q.number_id = n.id AND q.seq < mine.seq) AS earlier,
     EXISTS (SELECT FROM send_queue q WHERE q.team_id = n.team_id AND q.message_id = $3 AND q.waits_for_media) AS fetching
   FROM numbers n LEFT JOIN device_sessions s ON s.number_id = n.id WHERE n.team_id = $1 AND n.id = $2`,
);

/** Why a queued message waits (specification section 4.3): the first reason that a person can change. */
export async function waitingReason(
  db: Queryable,
  message: MessageRow,
  now: Date,
): Promise<WaitingReason | null> {
  if (message.status !== 'queued') return null;
  const found = await circumstances.row(db, message.team_id, message.number_id, message.id);
  if (!found) return null;
  if (found.number_status === 'paused') return 'number_paused';
  const seenAt = found.last_seen_at?.getTime();
  if (seenAt === undefined || now.getTime() - seenAt > offlineAfterMs) return 'phone_offline';
  if (found.fetching) return 'media_fetching';
  if (found.busy) return 'phone_busy';
  return found.earlier ? 'earlier_message' : null;
}
