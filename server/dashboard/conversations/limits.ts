/* Limits of conversations (specification section 12.11). Limits that clients see are in contract/conversation.ts. */

/** Conversations that a page of the list reads at most, in addition to those with waiting messages. */
export const conversationPageExaminedMax = 2_000;

/** How many of the newest waiting messages move their conversations to the top, of a team or of the filtered number. */
export const waitingExaminedMax = 500;

/** Messages that a page of a conversation reads at most, over all spellings of the contact and both directions. */
export const conversationMessagesExaminedMax = 10_000;

/** Messages that a count of unread ones reads at most: some may be to other numbers of the team. */
export const unreadExaminedMax = 300;

/** Connections of one phone number whose conversations are read; older ones are skipped. */
export const numbersOfPhoneMax = 20;

/** Newest waiting messages of a conversation whose spellings of the contact are examined. */
export const waitingSpellingsExaminedMax = 100;
