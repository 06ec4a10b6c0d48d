import { transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { lockCurrentSession } from '#server/devices/device-store.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import type { MessageId } from '#server/platform/ids.ts';
import type { ClaimingPoll } from './claim-message.ts';
import { sqlNextStatus, sqlStatusGuard } from './message-status.ts';
import { findMessage, sqlHoldOnJoin } from './message-store.ts';

/**
 * Release: returns a message to its position in the queue. The hand-out is deleted, and no longer counts for pacing and
 * the conversation.
 */
const release = transactionQuery<Omit<ClaimingPoll, 'deviceId'> & { messageId: MessageId; contact: string }>(
  'messages.release',
  `WITH ended AS (
     -- 1. End the hand-out, if this poll still has it.
     DELETE FROM in_flight WHERE number_id = :numberId AND message_id = :messageId AND session_id = :sessionId AND poll_sequence = :poll
     RETURNING message_id, hand_out, seq
   ), deleted_hand_out AS (
     -- 2. Delete its record.
     DELETE FROM hand_outs h USING ended e WHERE h.message_id = :messageId AND h.hand_out = e.hand_out
   ), requeued AS (
     -- 3. Set the message's status back to queued.
     UPDATE messages m SET status = ${sqlNextStatus('release')}, hand_out_count = e.hand_out - 1
     FROM ended e WHERE m.team_id = :teamId AND m.id = :messageId AND m.id = e.message_id AND ${sqlStatusGuard('release', 'm')}
     RETURNING m.id, m.created_at
   ), unpaced AS (
     -- 4. Delete it from recent_hand_outs, where it is the newest row. With pacing off it has no row.
     DELETE FROM recent_hand_outs r USING requeued q, ended e
     WHERE r.number_id = :numberId AND r.message_id = q.id AND r.hand_out = e.hand_out
       AND r.ordinal = (SELECT s.hand_out_total FROM device_sessions s WHERE s.number_id = :numberId)
     RETURNING r.ordinal
   ), session AS (
     -- 5. Count the release, so that a concurrent claim gives out no message from its older snapshot.
     UPDATE device_sessions s SET requeue_count = s.requeue_count + 1, handed_out_at = NULL,
       hand_out_total = s.hand_out_total - (SELECT count(*) FROM unpaced)
     FROM requeued q WHERE s.number_id = :numberId
   ), conversation AS (
     -- 6. Find out whether the hand-out opened the conversation.
     SELECT c.contact, c.opened_by = 'team' AND c.last_inbound_at IS NULL AND c.unanswered_count <= 1 AS is_opened_by_it
     FROM conversations c JOIN requeued q ON c.number_id = :numberId AND c.contact = :contact FOR UPDATE OF c
   ), unopened AS (
     -- 7. If so, delete the conversation.
     DELETE FROM conversations c USING conversation o WHERE c.number_id = :numberId AND c.contact = o.contact AND o.is_opened_by_it
   ), unanswered AS (
     -- 8. If not, uncount one message without a reply.
     UPDATE conversations c SET unanswered_count = greatest(c.unanswered_count - 1, 0)
     FROM conversation o WHERE c.number_id = :numberId AND c.contact = o.contact AND NOT o.is_opened_by_it
   )
   -- 9. Queue it again at its former position.
   INSERT INTO send_queue (message_id, team_id, number_id, seq, to_handle, queued_at, hold)
   SELECT q.id, :teamId, :numberId, e.seq, :contact, q.created_at, ${sqlHoldOnJoin(':teamId')} FROM requeued q JOIN ended e ON e.message_id = q.id
   RETURNING seq`,
  { changes: 'message', team: ':teamId', ids: ':messageId' },
);

/**
 * Returns a hand-out to the queue, only for the poll that claimed it (specification section 11.4). Its phone
 * disconnected before the first byte of the answer.
 */
export async function releaseMessage(
  { database }: Runtime,
  claimant: ClaimingPoll,
  messageId: MessageId,
): Promise<void> {
  const { teamId, numberId, sessionId, poll } = claimant;
  await database.transaction(async (trx) => {
    await lockCurrentSession(trx, claimant);
    const message = await findMessage(trx, { teamId, messageId });
    if (!message) return;
    const contact = contactOf(message.to_handle);
    await release.run(trx, { teamId, numberId, messageId, sessionId, poll, contact });
  });
}
