import type { ConversationFacts } from '#contract/conversation.ts';

/** Names a conversation among all of a team. */
export const rowKey = ({ phone_number, contact }: Pick<ConversationFacts, 'phone_number' | 'contact'>) =>
  `${phone_number} ${contact}`;
