import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import type { KeyId, MemberId, MessageId, TeamId } from '#server/platform/ids.ts';
import { beginWaiting, type OfPhone } from './conversation-store.ts';
import type { MessageRow } from './message.ts';

const ofPhone = 'a.team_id = :teamId AND a.phone_number = :phoneNumber AND a.contact = :contact';
const isStored =
  'EXISTS (SELECT FROM messages m WHERE m.team_id = a.team_id AND m.id = a.message_id OFFSET 0)';
const sqlLastAnswer = `CASE WHEN ${isStored} THEN a.message_id ELSE a.previous_id END`;

/**
 * Claims a conversation for a reply whose message is not stored yet (decision 0063). Claims at the same instant wait for
 * each other. A repeat with the same Idempotency-Key takes the claim of its first try over.
 * @param by the sender: an Idempotency-Key of another sender is another one
 * @returns false if an answer is later than `seenId`, or if a claim later than `freshId` has no message yet. Also false
 * if the team never had the number. A `seenId` of null is not checked
 */
export const claimConversation = query<
  OfPhone & {
    messageId: MessageId;
    by: KeyId | MemberId;
    idempotencyKey: string | null;
    seenId: string | null;
    freshId: string;
  }
>(
  'messages.claim-conversation',
  `INSERT INTO conversation_answers AS a (team_id, phone_number, contact, message_id, attempt)
   SELECT :teamId::uuid, :phoneNumber::text, :contact::text, :messageId::uuid,
     coalesce(md5(:by::text || ' ' || :idempotencyKey::text)::uuid, :messageId)
   WHERE EXISTS (SELECT FROM numbers n WHERE n.team_id = :teamId AND n.phone_number = :phoneNumber)
   ON CONFLICT (team_id, phone_number, contact) DO UPDATE
     SET previous_id = ${sqlLastAnswer}, message_id = excluded.message_id, attempt = excluded.attempt
     WHERE a.attempt = excluded.attempt
       OR ((${isStored} OR a.message_id < :freshId) AND coalesce(${sqlLastAnswer} <= :seenId::uuid, true))`,
).hasRow;

/** Releases the claim of a reply that stored no message: `storedId` is the earlier message that it repeats, or null. */
export const releaseClaim = query<OfPhone & { messageId: MessageId; storedId: MessageId | null }>(
  'messages.release-claim',
  `MERGE INTO conversation_answers a USING (SELECT :storedId::uuid AS stored_id) s ON ${ofPhone}
   WHEN MATCHED AND a.message_id <> :messageId THEN DO NOTHING
   WHEN MATCHED AND s.stored_id IS NULL AND a.previous_id IS NULL THEN DELETE
   WHEN MATCHED THEN UPDATE SET message_id = greatest(s.stored_id, a.previous_id), previous_id = NULL`,
).run;

/** Finds the message of the last claim, which may not be stored, and the last answer before it. */
export const findAnswer = query<OfPhone, { message_id: MessageId; previous_id: MessageId | null }>(
  'messages.find-answer',
  `SELECT a.message_id, a.previous_id FROM conversation_answers a WHERE ${ofPhone}`,
).row;

const findFailed = transactionQuery<
  { teamId: TeamId; phoneNumbers: string[]; contacts: string[]; messageIds: MessageId[] },
  OfPhone & { messageId: MessageId; isLast: boolean }
>(
  'messages.find-failed-answers',
  `SELECT :teamId::uuid AS "teamId", f.*, f."messageId" = a.message_id AS "isLast"
   FROM unnest(:phoneNumbers::text[], :contacts::text[], :messageIds::uuid[]) AS f ("phoneNumber", contact, "messageId")
   CROSS JOIN LATERAL (
     SELECT a.message_id, a.previous_id FROM conversation_answers a
     WHERE a.team_id = :teamId AND a.phone_number = f."phoneNumber" AND a.contact = f.contact OFFSET 0
   ) a
   WHERE f."messageId" IN (a.message_id, a.previous_id)`,
).rows;
const takeBack = transactionQuery<OfPhone & { messageId: MessageId }>(
  'messages.take-answer-back',
  `MERGE INTO conversation_answers a USING (SELECT :messageId::uuid AS id) f ON ${ofPhone}
   WHEN MATCHED AND a.previous_id = f.id THEN UPDATE SET previous_id = NULL
   WHEN MATCHED AND a.message_id <> f.id THEN DO NOTHING
   WHEN MATCHED AND a.previous_id IS NULL THEN DELETE
   WHEN MATCHED THEN UPDATE SET message_id = a.previous_id, previous_id = NULL`,
).run;

/**
 * Takes back the answers among a team's failed messages that were certainly not sent. A conversation whose last answer
 * failed waits again.
 */
export async function takeAnswersBack(trx: Transaction, failed: readonly MessageRow[]): Promise<void> {
  const unsent = failed.filter((message) => message.sent_by !== null && !message.may_have_been_sent);
  const [first] = unsent;
  if (!first) return;
  const answers = await findFailed(trx, {
    teamId: first.team_id,
    phoneNumbers: unsent.map(({ from_handle }) => from_handle),
    contacts: unsent.map(({ to_handle }) => contactOf(to_handle)),
    messageIds: unsent.map(({ id }) => id),
  });
  for (const answer of answers) {
    if (answer.isLast) await beginWaiting(trx, answer);
    await takeBack(trx, answer);
  }
}

/**
 * Deletes the answers of conversations that are gone.
 * @param before only answers with smaller ids
 * @returns the number deleted
 */
export const purgeConversationAnswers = transactionQuery<{ before: string; limit: number }>(
  'messages.purge-answers',
  `DELETE FROM conversation_answers WHERE ctid = ANY (ARRAY(
     SELECT o.place FROM teams t
     CROSS JOIN LATERAL (
       SELECT a.ctid AS place FROM conversation_answers a
       WHERE a.team_id = t.id AND a.message_id < :before
         AND NOT EXISTS (
           SELECT FROM numbers n JOIN conversations c ON c.number_id = n.id AND c.contact = a.contact
           WHERE n.team_id = a.team_id AND n.phone_number = a.phone_number OFFSET 0)
       ORDER BY a.team_id, a.phone_number, a.contact LIMIT :limit
     ) o LIMIT :limit
   ))`,
).count;

/** Deletes the answers to a contact whose message is `until_id` or an earlier one. */
export const eraseConversationAnswers = transactionQuery<{
  team_id: TeamId;
  contact: string;
  until_id: MessageId;
}>(
  'messages.erase-answers',
  `DELETE FROM conversation_answers WHERE team_id = :team_id AND contact = :contact AND message_id <= :until_id
     AND phone_number = ANY(ARRAY(SELECT phone_number FROM numbers WHERE team_id = :team_id))`,
).run;
