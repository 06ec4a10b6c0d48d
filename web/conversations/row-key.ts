import type { Conversation } from '#contract/conversation.ts';

/** A key of a conversation that is unique within a team. */
export const rowKey = ({ phone_number, contact }: Pick<Conversation, 'phone_number' | 'contact'>) =>
  `${phone_number} ${contact}`;
