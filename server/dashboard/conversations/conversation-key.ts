import type { MessageRow } from '#server/messages/message.ts';
import { contactOf } from '#server/opt-outs/contact.ts';

/** Connections of one phone number whose conversations are read; older ones are skipped. */
const numbersOfPhoneMax = 20;

/** Conversation as people see it: a phone number of the team, over all its connections, and a contact. */
export interface ConversationKey {
  /** E.164 */
  readonly phoneNumber: string;
  /** The normalized handle. */
  readonly contact: string;
}

export function conversationOf(
  message: Pick<MessageRow, 'direction' | 'from_handle' | 'to_handle'>,
): ConversationKey {
  const { direction, from_handle: from, to_handle: to } = message;
  return direction === 'inbound'
    ? { phoneNumber: to, contact: contactOf(from) }
    : { phoneNumber: from, contact: contactOf(to) };
}

/** A text that identifies a conversation, as a key of maps: no phone number has a space. */
export function textOfKey({ phoneNumber, contact }: ConversationKey): string {
  return `${phoneNumber} ${contact}`;
}

/** SQL of the numbers that the team `:teamId` has connected for a phone number, latest first, including deleted ones. */
export function sqlNumbersOfPhone(phoneNumber: string): string {
  return `SELECT s.* FROM numbers s WHERE s.team_id = :teamId AND s.phone_number = ${phoneNumber}
    ORDER BY s.id DESC LIMIT ${numbersOfPhoneMax}`;
}

/** SQL of the rows of one conversation: one per connected number of its phone number. */
export function sqlRowsOfConversation(phoneNumber: string, contact: string): string {
  return `SELECT o.last_activity_at, o.last_message_id, o.last_inbound_id, o.handles
    FROM (${sqlNumbersOfPhone(phoneNumber)}) s
    CROSS JOIN LATERAL (SELECT r.* FROM conversations r WHERE r.number_id = s.id AND r.contact = ${contact} OFFSET 0) o`;
}
