import type { Conversation, ConversationMessage, ConversationMessageList } from '#contract/conversation.ts';
import type { LoadedList } from '#web/api/loaded-list.ts';

type LoadedThread = LoadedList<ConversationMessageList, ConversationMessage>;

/** A key of a conversation that is unique within a team. */
export const rowKey = ({ phone_number, contact }: Pick<Conversation, 'phone_number' | 'contact'>) =>
  `${phone_number} ${contact}`;

/** The row of an open conversation that the list does not have, such as an answered one among those that wait. */
export function rowOfThread({ newest, rows }: LoadedThread): Conversation {
  const { number, id, contact, contact_id, name, waiting, unread_count, opt_out } = newest;
  const [last] = rows;
  return {
    id,
    phone_number: number.phone_number,
    number_label: number.label,
    number_removed: number.removed,
    ...(number.simulated && { simulated: true }),
    contact,
    contact_id,
    name,
    waiting,
    last_message: last ?? null,
    last_activity_at: last?.created_at ?? new Date(0).toISOString(),
    queued_count: rows.filter(({ status }) => status === 'queued').length,
    opted_out: opt_out !== null,
    unread_count,
  };
}

/** The place that the open conversation keeps in the list. */
export interface Place {
  readonly key: string;
  /** The time of its last activity when it was opened. */
  readonly at: string;
  /** Whether it waited for the team since it was opened. */
  readonly waited: boolean;
}

/** Puts the open conversation at its place, so that an answer moves it neither to the top nor out of the list. */
export function withOpenRow(rows: readonly Conversation[], row: Conversation, { at }: Place): Conversation[] {
  const others = rows.filter((one) => rowKey(one) !== rowKey(row));
  const next = others.findIndex((one) => Date.parse(one.last_activity_at) < Date.parse(at));
  return others.toSpliced(next < 0 ? others.length : next, 0, row);
}

/** Removes repeats: a conversation that has moved to the newest page may still be among the older rows. */
export function withoutRepeats(conversations: readonly Conversation[]): readonly Conversation[] {
  const seen = new Set<string>();
  return conversations.filter((conversation) => {
    const key = rowKey(conversation);
    return !seen.has(key) && seen.add(key);
  });
}
