import type { ConversationList, ListConversationsQuery } from '#contract/conversation.ts';
import { listLimitDefault } from '#contract/paging.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { listFacts, type Reader, viewConversations } from './conversation-facts.ts';
import {
  comparePositions,
  formatCursor,
  listPageRows,
  listQueuedRows,
  mergePage,
  type PageRow,
  type PositionedConversation,
  type QueuedRow,
  readCursor,
} from './conversation-lists.ts';

/** Conversations that a page of the list reads at most, in addition to those with queued messages. */
export const conversationPageExaminedMax = 2_000;

/**
 * Lists a page of a team's conversations, latest activity first. If a conversation gets a
 * message while a client reads page after page, it moves to the first page.
 * @throws AppError 400, param cursor
 */
export async function listConversationRows(
  { database: { pages } }: Runtime,
  teamId: TeamId,
  reader: Reader,
  { number, unread = false, waiting = false, limit = listLimitDefault, cursor }: ListConversationsQuery,
) {
  const before = readCursor(cursor);
  const filters = { teamId, ...reader, number: number ?? null, unreadOnly: unread, waitingOnly: waiting };
  // Queued messages are read first. So a message that is handed out between the two reads is in both results, and
  // never in none.
  const queued = (await listQueuedRows(pages, filters)).filter(({ fits }) => fits);
  const rows = await listPageRows(pages, {
    ...filters,
    ...before,
    examinedMax: conversationPageExaminedMax,
    limit: limit + 1 + queued.length,
  });
  const bound = rows.find(({ is_bound }) => is_bound);
  const others = rows.filter(({ fits }) => fits).map(position);
  const page = mergePage(queued.map(positionQueued), others, before, bound && position(bound), limit);
  return {
    rows: await listFacts(pages, teamId, page.rows, reader),
    cursor: page.last ? formatCursor(page.last.position) : '',
    has_more: page.has_more,
  };
}

/** Lists a page of conversations as a member sees them. @throws AppError 400, param cursor */
export async function listConversations(
  services: Runtime,
  teamId: TeamId,
  reader: Reader,
  asked: ListConversationsQuery,
): Promise<ConversationList> {
  const { rows, ...page } = await listConversationRows(services, teamId, reader, asked);
  return { conversations: await viewConversations(services.database.pages, teamId, rows), ...page };
}

function position(row: PageRow): PositionedConversation {
  const { last_activity_at: at, last_message_id: messageId } = row;
  return { phoneNumber: row.phone_number, contact: row.contact, position: { at, messageId } };
}

/** The later of two positions: that of the newest queued message, and that of the last activity. */
function positionQueued(row: QueuedRow): PositionedConversation {
  const queued = { at: row.queued_at, messageId: row.message_id };
  const { last_activity_at: at, last_message_id: messageId } = row;
  const done = at && messageId ? { at, messageId } : queued;
  return {
    phoneNumber: row.phone_number,
    contact: row.contact,
    position: comparePositions(done, queued) < 0 ? done : queued,
  };
}
