/*
 * Limits of conversations (specification section 12.11). contract/conversation.ts has those that clients see.
 */

/** Conversations that a page of the list reads at most, beside those with waiting messages. */
export const conversationPageExaminedMax = 2_000;

/** The newest waiting messages of a team, or of the number that the list is filtered by, whose conversations move up. */
export const waitingExaminedMax = 500;

/** Messages that a page of a conversation reads at most, over all spellings of the contact and both directions. */
export const conversationMessagesExaminedMax = 10_000;

/** Messages that the count of unread ones reads at most: a contact may have written to other numbers of the team. */
export const unreadExaminedMax = 300;

/** How often a phone number may have been deleted and connected again until its oldest rows are left out. */
export const numbersOfPhoneMax = 20;

/** The newest waiting messages of a conversation whose spellings of the contact are looked at. */
export const waitingSpellingsExaminedMax = 100;
