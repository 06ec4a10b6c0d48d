import type { ConversationFacts } from '#contract/conversation.ts';

/** A key of a conversation that is unique within a team. */
export const rowKey = ({ phone_number, contact }: Pick<ConversationFacts, 'phone_number' | 'contact'>) =>
  `${phone_number} ${contact}`;
