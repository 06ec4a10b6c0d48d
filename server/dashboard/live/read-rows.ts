import type { ResourceType } from '#contract/change.ts';
import type { ConversationFacts } from '#contract/conversation.ts';
import type { LiveRows } from '#contract/live.ts';
import { factsView, listFacts } from '#server/dashboard/conversations/conversation-facts.ts';
import { conversationOf, textOfKey } from '#server/dashboard/conversations/conversation-key.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { MessageRow } from '#server/messages/message.ts';
import { listedMessageView } from '#server/messages/message-view.ts';
import { listMessageIdsSince, listMessagesByIds } from '#server/messages/recent-messages-store.ts';
import { firstIdOfDay, listNumbers, listNumbersByIds } from '#server/numbers/number-store.ts';
import { numberView } from '#server/numbers/number-view.ts';
import { firstIdAt, type NumberId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { getUsageSummary } from '#server/usage/get-usage-summary.ts';
import type { WantedRows } from './gathered-changes.ts';
import { refreshMessagesMax, rowConversationsMax } from './limits.ts';
import type { MessageWindow } from './message-window.ts';

type Services = Pick<Runtime, 'database' | 'clock'>;

/**
 * Rows to send, and the types that browsers have to read again, because there were too many rows or a conversation left
 * the list.
 */
interface ReadRows {
  readonly rows: LiveRows;
  readonly tooMany: readonly ResourceType[];
}

/** Reads the rows that gathered changes ask for, once for all streams of a team. */
export async function readRows(
  services: Services,
  teamId: TeamId,
  wanted: WantedRows,
  window: MessageWindow,
): Promise<ReadRows> {
  const newIds = wanted.hasNewMessages ? await findNewIds(services, teamId, window) : [];
  const { pages } = services.database;
  const ids = new Set<string>([...wanted.messageIds, ...(newIds ?? [])]);
  if (wanted.isRefresh) {
    const recent = { teamId, firstId: firstIdAt(0), limit: refreshMessagesMax };
    for (const { id } of await listMessageIdsSince(pages, recent)) ids.add(id);
  }
  const messages = await listMessagesByIds(pages, teamId, [...ids]);
  const conversations = await readConversations(services, teamId, messages);
  const rows = {
    messages: messages.map(listedMessageView),
    conversations: conversations?.listed ?? [],
    ...(await readNumbers(services, teamId, wanted)),
    ...(wanted.usage || wanted.isRefresh ? { usage: await getUsageSummary(services, teamId) } : {}),
  };
  return { rows, tooMany: newIds && conversations && !conversations.areSomeGone ? [] : ['message'] };
}

interface ReadConversations {
  /** The conversations in the order of the list, latest activity first. */
  readonly listed: ConversationFacts[];
  /** True if conversations left the list, because their only messages failed before a hand-out. */
  readonly areSomeGone: boolean;
}

/** @returns the conversations of these messages; undefined if there are too many */
async function readConversations(
  { database: { pages } }: Services,
  teamId: TeamId,
  messages: readonly MessageRow[],
): Promise<ReadConversations | undefined> {
  // A message from an unknown sender has an empty contact, and belongs to no conversation.
  const keys = messages.map(conversationOf).filter(({ contact }) => contact !== '');
  const distinct = new Map(keys.map((key) => [textOfKey(key), key]));
  if (distinct.size === 0) return { listed: [], areSomeGone: false };
  if (distinct.size > rowConversationsMax) return undefined;
  const rows = await listFacts(pages, teamId, [...distinct.values()]);
  const active = rows.filter((row) => row.last_activity_at !== null || row.queued_at !== null);
  const listed = active.map(factsView);
  listed.sort((left, right) => (left.last_activity_at < right.last_activity_at ? 1 : -1));
  return { listed, areSomeGone: active.length < rows.length };
}

async function findNewIds({ database, clock }: Services, teamId: TeamId, window: MessageWindow) {
  const { firstId, idsMax: limit } = window;
  const ids = (await listMessageIdsSince(database.pages, { teamId, firstId, limit })).map(({ id }) => id);
  return window.take(ids, clock.nowMs());
}

async function readNumbers(
  { database: { pool }, clock }: Services,
  teamId: TeamId,
  { numberIds, isRefresh }: WantedRows,
): Promise<Pick<LiveRows, 'numbers' | 'numbers_complete' | 'removed_numbers'>> {
  if (isRefresh) {
    const numbers = await listNumbers(pool, teamId, firstIdOfDay(clock));
    return { numbers: numbers.map(numberView), numbers_complete: true, removed_numbers: [] };
  }
  const ids = [...numberIds] as NumberId[];
  const numbers = ids.length === 0 ? [] : await listNumbersByIds(pool, teamId, firstIdOfDay(clock), ids);
  const found = new Set(numbers.map(({ id }) => id));
  return {
    numbers: numbers.map(numberView),
    numbers_complete: false,
    removed_numbers: ids.filter((id) => !found.has(id)).map((id) => publicId('num', id)),
  };
}
