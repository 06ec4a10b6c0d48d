import type {
  ListedMessage,
  ListMessagesQuery,
  MessageList,
  MessageLog,
  MessageStatus,
} from '#contract/message.ts';
import {
  type Scanned,
  type ScannedRows,
  sqlBoundedScan,
  sqlRowsAlong,
} from '#server/database/bounded-scan.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { findLiveNumberByPhone } from '#server/numbers/number-store.ts';
import { foldMailAddress } from '#server/opt-outs/contact.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import { messagePageExaminedMax } from './limits.ts';
import { contactView, type MessageRow, messageView, sqlMessageColumns } from './message.ts';
import { findContactsOf } from './message-store.ts';
import { findSenders } from './senders.ts';

// The filters choose the bounded scan that reads the fewest messages in vain, and each scan applies all filters:
//
// - status queued or polling: the ids in the small tables of waiting and handed-out messages.
// - status failed: the index of failed messages.
// - from or to: the index of senders or of recipients; with both filters, the one that contains the contact.
// - direction inbound, or status received: the index of inbound messages.
// - all others: the primary key.

interface ScanParams {
  readonly teamId: TeamId;
  readonly before: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly status: MessageStatus | null;
  readonly direction: 'inbound' | 'outbound' | null;
  readonly limit: number;
  /** The sender or recipient whose messages the scan reads; null for other scans. */
  readonly handle: string | null;
}

const columns = sqlMessageColumns('m');

function defineScan(name: string, rows: ScannedRows) {
  const scan = sqlBoundedScan(rows, columns, {
    fits: `(:from::text IS NULL OR m.from_handle = :from) AND (:to::text IS NULL OR m.to_handle = :to)
      AND (:status::text IS NULL OR m.status = :status) AND (:direction::text IS NULL OR m.direction = :direction)`,
    examinedMax: messagePageExaminedMax,
    limit: ':limit',
  });
  return query<ScanParams, MessageRow & Scanned>(`messages.list-${name}`, scan).rows;
}

const defineTimeScan = (name: string, condition: string) =>
  defineScan(name, {
    alias: 'm',
    order: 'm.id DESC',
    rows: `SELECT ${columns} FROM messages m WHERE m.team_id = :teamId AND m.id < :before ${condition}`,
  });

const defineHandleScan = (name: string, column: 'from_handle' | 'to_handle') =>
  defineScan(name, sqlRowsAlong('messages', 'm', column, columns, [':teamId', ':handle', ':before']));

/**
 * A scan of the ids in a small table, for states that no index of the table messages covers. OFFSET 0 makes the planner
 * read the small table first.
 */
const defineIdScan = (name: string, messageIds: string) =>
  defineScan(name, {
    alias: 'm',
    order: 'waiting_id DESC',
    rows: `SELECT ${columns}, w.message_id AS waiting_id
      FROM (${messageIds} ORDER BY message_id DESC LIMIT ${messagePageExaminedMax}) w
      CROSS JOIN LATERAL (SELECT ${columns} FROM messages m WHERE m.team_id = :teamId AND m.id = w.message_id OFFSET 0) m`,
  });

const byTime = defineTimeScan('by-time', '');
const bySender = defineHandleScan('by-sender', 'from_handle');
const byRecipient = defineHandleScan('by-recipient', 'to_handle');
const failed = defineTimeScan('failed', 'AND m.failed_at IS NOT NULL');
const inbound = defineTimeScan('inbound', "AND m.direction LIKE 'inbound'");
const queued = defineIdScan(
  'queued',
  'SELECT q.message_id FROM send_queue q WHERE q.team_id = :teamId AND q.message_id < :before',
);
const polling = defineIdScan(
  'polling',
  `SELECT f.message_id FROM numbers n
   CROSS JOIN LATERAL (SELECT f.message_id FROM in_flight f WHERE f.number_id = n.id OFFSET 0) f
   WHERE n.team_id = :teamId AND f.message_id < :before`,
);

/**
 * Lists a page of the team's messages, newest first (specification section 4.3). A page whose filters exclude most of
 * what it reads is short, and its cursor continues after the last message that it read.
 * @param view makes an item
 * @throws AppError 400, param cursor, if it is no id of a message
 */
export async function listMessages<View>(
  services: Runtime,
  teamId: TeamId,
  asked: ListMessagesQuery,
  view: (message: MessageRow) => View,
): Promise<Omit<MessageList, 'messages'> & { messages: View[] }> {
  const from = asked.from === undefined ? undefined : foldMailAddress(asked.from);
  const { to } = asked;
  const { rows, ...page } = await readPage('msg', asked, async (before, limit) => {
    const direction = directionOf(asked);
    if (direction === 'none') return [];
    const { scan, handle } = await chooseScan(services, teamId, { ...asked, from }, direction);
    return scan(services.database.pages, {
      teamId,
      before,
      from: from ?? null,
      to: to ?? null,
      status: asked.status === 'received' ? null : (asked.status ?? null),
      direction: direction ?? null,
      limit,
      handle,
    });
  });
  return { messages: rows.map(view), ...page };
}

/** Lists a page of the team's messages as the dashboard shows them, with their people. @throws AppError 400, param cursor */
export async function listMessageLog(
  services: Runtime,
  teamId: TeamId,
  asked: ListMessagesQuery,
): Promise<MessageLog> {
  const { messages: rows, ...page } = await listMessages(services, teamId, asked, (row) => row);
  return { messages: await viewLog(services, teamId, rows), ...page };
}

/** Shows messages as the lists of the dashboard do. */
export async function viewLog(
  { database: { pages } }: Runtime,
  teamId: TeamId,
  rows: readonly MessageRow[],
): Promise<ListedMessage[]> {
  const senderIds = rows.map((row) => row.sent_by);
  const senders = await findSenders(pages, teamId, senderIds);
  const contacts = await findContactsOf(pages, teamId, rows);
  return rows.map((row) => ({
    ...messageView(row),
    ...contactView(contacts.get(row)),
    sender: senders.get(row.sent_by) ?? null,
    error_code: row.error_code,
  }));
}

/**
 * The direction that the filters status and direction imply, because only inbound messages are `received`. `none`: the
 * two filters exclude each other.
 */
function directionOf({ status, direction }: ListMessagesQuery): 'inbound' | 'outbound' | 'none' | undefined {
  if (status === undefined) return direction;
  const implied = status === 'received' ? 'inbound' : 'outbound';
  return direction === undefined || direction === implied ? implied : 'none';
}

async function chooseScan(
  { database }: Runtime,
  teamId: TeamId,
  { status, from, to }: Pick<ListMessagesQuery, 'status' | 'to'> & { readonly from: string | undefined },
  direction: 'inbound' | 'outbound' | undefined,
): Promise<{ scan: typeof byTime; handle: string | null }> {
  if (status === 'queued') return { scan: queued, handle: null };
  if (status === 'polling') return { scan: polling, handle: null };
  if (status === 'failed') return { scan: failed, handle: null };
  if (from !== undefined && to !== undefined) {
    // The scan follows the contact's handle, because the team's own number has more messages.
    const isOwn = (await findLiveNumberByPhone(database.pool, { teamId, phoneNumber: from })) !== undefined;
    return isOwn ? { scan: byRecipient, handle: to } : { scan: bySender, handle: from };
  }
  if (from !== undefined) return { scan: bySender, handle: from };
  if (to !== undefined) return { scan: byRecipient, handle: to };
  return { scan: direction === 'inbound' ? inbound : byTime, handle: null };
}
