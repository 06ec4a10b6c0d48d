import type { MessageRow } from '#server/messages/message.ts';
import { contactOf } from '#server/opt-outs/contact.ts';

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
