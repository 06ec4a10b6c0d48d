import { phoneQueueChannel } from '#server/database/channels.ts';
import { isDatabaseAway, isStatementTimeout } from '#server/database/database.ts';
import { type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { completeMediaFile, mediaLink, removeMedia } from '#server/media/media-store.ts';
import { type MediaProblem, MediaWriter, type WrittenMedia } from '#server/media/media-writer.ts';
import type { NumberRow } from '#server/numbers/number-store.ts';
import { effectivePacing } from '#server/numbers/pacing.ts';
import { optIn, optOut } from '#server/opt-outs/change-opt-out.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { findKeyword, type Keyword } from '#server/opt-outs/keyword.ts';
import { hasSeveralSenders, isGroupMessage, normalizeSender } from '#server/opt-outs/normalize-sender.ts';
import { ignoreStart, type NamedKey, restoreContact } from '#server/opt-outs/opt-out-store.ts';
import { serverItself } from '#server/platform/actor.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { firstIdAt, type MessageId, type NumberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { dayOf } from '#server/platform/time/calendar.ts';
import { countInboundMessage, lockUsage } from '#server/usage/usage.ts';
import { claimInbound, type InboundIdentity } from './claim-inbound.ts';
import { sqlNoteActivity } from './conversation-store.ts';
import { equalStartMs, handleMaxCharacters } from './limits.ts';
import { type MessageRow, sqlMessageColumns } from './message.ts';
import { appendMessageEvents } from './message-event.ts';
import { failMessagesToContact } from './sweep-messages.ts';

export interface Inbound extends Omit<InboundIdentity, 'content'> {
  readonly from: string;
  readonly text: string;
  /** The recipients that the device reports; undefined if it reports none. */
  readonly recipients: string | undefined;
  /** The message's file, and the name that its sender gave it. */
  readonly media: { readonly bytes: Buffer; readonly name: string | undefined } | undefined;
}

/** Why the file of an inbound message was not stored. `not_stored`: an error, which the log contains. */
type InboundMediaProblem = MediaProblem | 'not_stored';

/** An accepted inbound message. `problem`: why its file was not stored, although its text was. */
export interface Received {
  readonly id: MessageId;
  readonly problem: InboundMediaProblem | undefined;
}

// `is_erased`: the sender is opted out, and was erased. Without this column, each message would need another statement.
const insert = transactionQuery<
  NamedKey & {
    id: MessageId;
    numberId: NumberId;
    phoneNumber: string;
    text: string;
    at: Date;
    isGroup: boolean;
    possibleRepeat: boolean;
    mediaUrl: string | null;
  },
  MessageRow & { readonly is_erased: boolean }
>(
  'messages.insert-received',
  `INSERT INTO messages AS m (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, last_event_sequence, is_group, possible_repeat, media_url)
   VALUES (:teamId, :id, :numberId, 'inbound', :contact, :phoneNumber, :text, 'received', :at, 1, :isGroup, :possibleRepeat, :mediaUrl)
   RETURNING ${sqlMessageColumns('m')}, EXISTS (
     SELECT FROM opt_outs o WHERE o.team_id = m.team_id AND o.contact_hash = :contactHash AND o.contact IS NULL) AS is_erased`,
  { changes: 'message', team: ':teamId', ids: ':id' },
);

// `answered_id`: an id is older than its message if a file was written meanwhile, so an answer may have a later one.
const noteInbound = transactionQuery<{
  teamId: TeamId;
  numberId: NumberId;
  phoneNumber: string;
  contact: string;
  at: Date;
  id: MessageId;
}>(
  'messages.note-inbound',
  `INSERT INTO conversations AS c (team_id, number_id, contact, id, opened_by, opened_at, last_inbound_at, last_activity_at,
     last_message_id, last_inbound_id)
   VALUES (:teamId, :numberId, :contact, conversation_id(:teamId, :phoneNumber, :contact), 'contact', :at, :at, :at, :id, :id)
   ON CONFLICT (number_id, contact) DO UPDATE SET last_inbound_at = :at, unanswered_count = 0,
     last_inbound_id = greatest(c.last_inbound_id, excluded.last_inbound_id),
     answered_id = CASE WHEN c.answered_id < excluded.last_inbound_id THEN c.answered_id END, ${sqlNoteActivity}`,
);

const findEqual = transactionQuery<
  { teamId: TeamId; numberId: NumberId; contact: string; text: string; sinceId: string },
  { created_at: Date }
>(
  'messages.find-equal-received',
  `SELECT m.created_at FROM messages m
   WHERE m.team_id = :teamId AND m.from_handle = :contact AND m.id > :sinceId AND m.number_id = :numberId AND m.content = :text
   ORDER BY m.id LIMIT 1`,
);

/**
 * Stores an inbound message once (specification section 11.5), even if calls on several processes repeat it. A keyword
 * opts its sender out or in. If the file can't be stored, the text is stored alone.
 * @returns the id of the message; for a repeat, that of the earlier one
 */
export async function receiveMessage(
  services: Runtime,
  number: NumberRow,
  inbound: Inbound,
): Promise<Received> {
  const from = normalizeSender(inbound.from, number.phone_number);
  // The time is read before the wait for a repeat, so that the message counts on the day that its id contains.
  const now = services.clock.now();
  const id = services.ids.next('msg', now.getTime());
  const file = inbound.media && (await writeFile(services, number, id, inbound.media));
  const written = typeof file === 'object' ? file : undefined;
  const kept = await storeOnce(services, number, { ...inbound, from }, { id, at: now, written });
  if (written && kept !== id) await removeMedia(services.database.pool, [written]);
  if (hasSeveralSenders(inbound.from, number.phone_number))
    services.logger.warn(
      { messageId: publicId('msg', kept) },
      'an inbound message has several senders, whose texts may be joined; it counts for the first',
    );
  return { id: kept, problem: typeof file === 'string' ? file : undefined };
}

/**
 * Writes the file before the transaction of the message, so that the transaction does not hold its locks longer. If the
 * transaction fails, the purge removes the file.
 * @throws if the database is away: the phone repeats the message with its file
 */
async function writeFile(
  services: Runtime,
  { team_id: teamId }: NumberRow,
  messageId: MessageId,
  { bytes, name }: NonNullable<Inbound['media']>,
): Promise<WrittenMedia | InboundMediaProblem> {
  const writer = new MediaWriter(services, { teamId, messageId, wantedName: name });
  try {
    await writer.write(bytes);
    return await writer.end();
  } catch (error) {
    if (isDatabaseAway(error) && !isStatementTimeout(error)) throw error;
    services.logger.error(
      { err: error, messageId: publicId('msg', messageId) },
      'storing the file of an inbound message failed; its text is stored without it',
    );
    return 'not_stored';
  }
}

interface NewMessage {
  readonly id: MessageId;
  readonly at: Date;
  readonly written: WrittenMedia | undefined;
}

/** @returns the id of the stored message; for a duplicate, the id of the message that was stored first */
function storeOnce(
  services: Runtime,
  number: NumberRow,
  inbound: Inbound,
  { id, at, written }: NewMessage,
): Promise<MessageId> {
  const keyword = findKeyword(inbound.text);
  return services.database.transaction(async (trx) => {
    // An opt-out fails queued messages and refunds their quota. The usage row has to be locked before all other rows.
    if (keyword === 'opt_out') await lockUsage(trx, { teamIds: [number.team_id] });
    // The hash of the file is part of the content, so that two pictures without a text are different messages.
    const file = written ? [written.sha256.toString('hex')] : [];
    const identity = { ...inbound, content: [inbound.from, inbound.text, ...file] };
    const claimed = await claimInbound(trx, services, number, identity, id);
    const contact = senderContact(inbound.from);
    const teamId = number.team_id;
    const key = { teamId, contact, contactHash: services.secrets.contactHash(teamId, contact) };
    if (claimed.id !== id) {
      // An equal text in another call may be another text. So a STOP after an opt-in opts the sender out again, and a
      // START after an opt-out is shown to the team. A repeated call has no effect.
      if (keyword === 'opt_out' && !claimed.isSameCall)
        await applyKeyword(trx, services, number, { id: claimed.id, from: inbound.from, at }, keyword);
      if (keyword === 'opt_in' && !claimed.isSameCall)
        await ignoreLateStart(trx, number, inbound.text, key, at);
      return claimed.id;
    }
    const isLateStart =
      keyword === 'opt_in' &&
      !inbound.deviceGivenId &&
      (await ignoreLateStart(trx, number, inbound.text, key, at));
    const message = await insert.row(trx, {
      ...key,
      id,
      numberId: number.id,
      phoneNumber: number.phone_number,
      text: inbound.text,
      at,
      isGroup: isGroupMessage(inbound.recipients, inbound.from, number.phone_number),
      possibleRepeat: claimed.possibleRepeat || isLateStart,
      mediaUrl: written ? mediaLink(services, id, written.name) : null,
    });
    if (written && !(await completeMediaFile(trx, written)))
      throw new Error('the media file of an inbound message was deleted before its message was stored');
    if (message?.is_erased) await restoreContact(trx, key);
    if (message) await appendMessageEvents(trx, services, 'message.received', [message]);
    if (keyword && !isLateStart)
      await applyKeyword(trx, services, number, { id, from: inbound.from, at }, keyword);
    await noteInbound.run(trx, {
      teamId,
      numberId: number.id,
      phoneNumber: number.phone_number,
      contact,
      at,
      id,
    });
    // Under strict pacing a queued message may have waited for this reply, so the phone's poll is woken.
    if (effectivePacing(services.config.pacing, number.pacing).mode === 'strict')
      trx.notifyAfterCommit(phoneQueueChannel, [number.id]);
    if (!number.is_simulated) await countInboundMessage(trx, { teamId, day: dayOf(at) });
    failpoint('text before commit');
    return id;
  });
}

/**
 * Keeps an opt-out at a START if an equal START came in the last days before the opt-out. The iPhone may have passed
 * that earlier START on once more (specification section 4.6). The ignored START is noted at the opt-out.
 * @returns true if the START must not opt its sender in
 */
async function ignoreLateStart(
  trx: Transaction,
  { id: numberId }: NumberRow,
  text: string,
  key: NamedKey,
  at: Date,
): Promise<boolean> {
  const sinceId = firstIdAt(at.getTime() - equalStartMs);
  const equal = await findEqual.row(trx, { ...key, numberId, text, sinceId });
  return equal !== undefined && ignoreStart(trx, { ...key, equalAt: equal.created_at, at });
}

/**
 * Opts the sender of a message out or in (specification section 4.6), in the transaction that stores it. A text to a
 * group has the same effect. A message without a known sender has no effect.
 */
async function applyKeyword(
  trx: Transaction,
  services: Runtime,
  number: NumberRow,
  message: { readonly id: MessageId; readonly from: string; readonly at: Date },
  keyword: Keyword,
): Promise<void> {
  const contact = senderContact(message.from);
  if (contact === '') return;
  const change = {
    teamId: number.team_id,
    contact,
    by: serverItself,
    message: { id: message.id, number, receivedAt: message.at },
  };
  if (keyword === 'opt_in') await optIn(trx, services, change);
  else if (await optOut(trx, services, change)) await failMessagesToContact(trx, change, services);
}

/** The sender as it is stored, and compared with contacts: a mail address in lower case, and a long text cut off. */
function senderContact(handle: string): string {
  // Splitting a long text into characters is slow, so it is cut first. A character has up to two UTF-16 code units.
  return contactOf([...handle.slice(0, 2 * handleMaxCharacters)].slice(0, handleMaxCharacters).join(''));
}
