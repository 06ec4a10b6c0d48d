import { query, transactionQuery } from '#server/database/query.ts';
import type { MessageId, NumberId, TeamId } from '#server/platform/ids.ts';
import { contactSpellingsMax } from './limits.ts';

/** A conversation of a phone number, over all its connections. */
export interface OfPhone {
  readonly teamId: TeamId;
  readonly phoneNumber: string;
  readonly contact: string;
}

/**
 * The SET list for the upsert of a conversation c, which hand-outs and inbound messages share. It adds new spellings of
 * the contact. `greatest` is needed because the clocks of processes differ a little.
 */
export const sqlNoteActivity = `last_activity_at = greatest(c.last_activity_at, excluded.last_activity_at),
  last_message_id = greatest(c.last_message_id, excluded.last_message_id),
  handles = CASE WHEN excluded.handles <@ c.handles OR cardinality(c.handles) >= ${contactSpellingsMax} THEN c.handles
    ELSE (c.handles || ARRAY(SELECT h FROM unnest(excluded.handles) AS h WHERE h <> ALL (c.handles)))[1:${contactSpellingsMax}] END`;

/**
 * Corrects the count of messages without a reply after a hand-out that the phone could not send (specification section
 * 8). If a reply came later, the count was reset already. The conversation stays open: the phone tried to reach a new
 * contact.
 */
export const uncountFailedHandOut = transactionQuery<{
  numberId: NumberId;
  contact: string;
  handedOutAt: Date;
}>(
  'messages.uncount-failed-hand-out',
  `UPDATE conversations SET unanswered_count = greatest(unanswered_count - 1, 0)
   WHERE number_id = :numberId AND contact = :contact AND (last_inbound_at IS NULL OR last_inbound_at < :handedOutAt)`,
).run;

const ofPhone = `c.contact = :contact AND c.number_id = ANY (ARRAY(
  SELECT n.id FROM numbers n WHERE n.team_id = :teamId AND n.phone_number = :phoneNumber))`;
const change = { changes: 'message', team: ':teamId' } as const;

/** Ends the waiting of a conversation for the team, unless the contact wrote after the message `untilId`. */
export const endWaiting = query<OfPhone & { untilId: MessageId }>(
  'messages.end-waiting',
  `UPDATE conversations c SET answered_id = :untilId
   WHERE ${ofPhone} AND c.is_waiting AND (c.answered_id IS NULL OR c.answered_id < :untilId)`,
  change,
).run;

/** Lets a conversation wait again, if the contact ever wrote. */
export const beginWaiting = query<OfPhone>(
  'messages.begin-waiting',
  `UPDATE conversations c SET answered_id = NULL WHERE ${ofPhone} AND c.last_inbound_id IS NOT NULL`,
  change,
).run;
