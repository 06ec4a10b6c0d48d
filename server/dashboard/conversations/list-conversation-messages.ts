import type {
  ConversationMessage,
  ConversationMessageList,
  ListConversationMessagesQuery,
} from '#contract/conversation.ts';
import type { HealthState } from '#contract/number-health.ts';
import { listLimitDefault } from '#contract/paging.ts';
import type { MessageSender } from '#contract/timeline.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { MessageRow } from '#server/messages/message.ts';
import { findMessage } from '#server/messages/message-store.ts';
import { messageDetailView } from '#server/messages/message-view.ts';
import { explainWaiting } from '#server/messages/waiting-reason.ts';
import { findHealth } from '#server/numbers/number-facts-store.ts';
import { findOptOut } from '#server/opt-outs/opt-out-store.ts';
import { optOutView } from '#server/opt-outs/opt-out-view.ts';
import { notFound } from '#server/platform/app-error.ts';
import { type MessageId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { pageOfIds, parseCursor } from '#server/platform/paging.ts';
import { findSenders } from '../timeline/timeline-store.ts';
import { type FactsRow, listFacts } from './conversation-facts.ts';
import type { ConversationKey } from './conversation-key.ts';
import { findWaitingMessages, listRowsOfConversation } from './conversation-messages.ts';
import type { Reader } from './read-store.ts';

/** Messages that a page of a conversation reads at most, over all spellings of the contact and both directions. */
export const conversationMessagesExaminedMax = 10_000;

/**
 * Lists a page of a conversation's messages, newest first, with the facts at the head of the page (specification
 * section 12.11). For a contact without messages the page is empty.
 * @throws AppError 404 for a number that the team never had; 400, param cursor
 */
export async function listConversationMessages(
  services: Pick<Runtime, 'database' | 'clock' | 'config'>,
  teamId: TeamId,
  reader: Reader,
  key: ConversationKey,
  { limit = listLimitDefault, cursor = '' }: ListConversationMessagesQuery,
): Promise<ConversationMessageList> {
  const { database, clock } = services;
  const { pages, pool } = database;
  const before = parseCursor('msg', cursor);
  const [facts] = await listFacts(pages, teamId, [key], reader);
  if (!facts) throw notFound('number');
  const waiting = await findWaitingMessages(pages, {
    teamId,
    numberId: facts.live_number_id,
    contact: key.contact,
  });
  const handles = [...new Set([key.contact, ...facts.handles, ...waiting.handles])];
  const rows = await listRowsOfConversation(pages, {
    teamId,
    phoneNumber: key.phoneNumber,
    handles,
    before,
    examinedMax: Math.floor(conversationMessagesExaminedMax / (2 * handles.length)),
    limit: limit + 1,
  });
  // Merges the rows of all scans. If a scan stopped early, older rows belong to the next page.
  const newestFirst = rows.toSorted((a, b) => (a.id > b.id ? -1 : 1));
  const { rows: messages, ...page } = pageOfIds('msg', newestFirst, limit);
  const senders = await findSenders(
    pages,
    teamId,
    messages.map((row) => row.sent_by),
  );
  const optOut = await findOptOut(pool, { teamId, contact: key.contact });
  const health = await findHealth(pool, { teamId, numberId: facts.live_number_id, now: clock.now() });
  return {
    number: numberOf(facts, health?.health ?? 'pending'),
    contact: key.contact,
    opt_out: optOut ? optOutView(optOut) : null,
    waiting: waiting.head_id && (await explainHead(services, teamId, waiting.head_id)),
    read_until: facts.read_until && publicId('msg', facts.read_until),
    unread_count: facts.unread_count,
    messages: messages.map((row) => messageOf(row, senders.get(row.sent_by))),
    ...page,
  };
}

function messageOf(row: MessageRow, sender: MessageSender | undefined): ConversationMessage {
  const {
    waiting_reason: _reason,
    expected_at: _at,
    ...message
  } = messageDetailView(row, {
    reason: null,
    expectedAt: null,
  });
  return { ...message, sender: sender ?? null };
}

async function explainHead(
  services: Pick<Runtime, 'database' | 'clock' | 'config'>,
  teamId: TeamId,
  headId: MessageId,
): Promise<ConversationMessageList['waiting']> {
  const message = await findMessage(services.database.pool, { teamId, messageId: headId });
  // The message was handed out meanwhile, so it no longer waits.
  if (message?.status !== 'queued') return null;
  const { reason, expectedAt } = await explainWaiting(services, message);
  return { message_id: publicId('msg', headId), reason, expected_at: expectedAt?.toISOString() ?? null };
}

function numberOf(facts: FactsRow, health: HealthState): ConversationMessageList['number'] {
  return {
    id: publicId('num', facts.live_number_id),
    phone_number: facts.phone_number,
    label: facts.label,
    status: facts.number_status,
    verified: facts.is_verified,
    removed: facts.is_removed,
    ...(facts.is_simulated ? { simulated: true } : {}),
    health,
  };
}
