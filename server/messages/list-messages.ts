import type { ListMessagesQuery, Message, MessageList, MessageStatus } from '#contract/message.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Statement, statement } from '#server/database/statement.ts';
import { findLiveNumberByPhone } from '#server/numbers/number-store.ts';
import { foldMailAddress } from '#server/opt-outs/contact.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import { messagePageExaminedMax } from './limits.ts';
import { type MessageRow, sqlMessageColumns } from './message.ts';

// A page is a scan along an index, newest first, that stops at the page's length, or after 10,000 messages where few
// match. The filters choose the scan that reads the fewest messages in vain, and each scan applies all filters:
//
// - status queued or polling: the ids in the small tables of waiting and handed-out messages.
// - status failed: the index of failed messages.
// - from or to: the index of senders or of recipients; with both filters, the one that contains the contact.
// - direction inbound, or status received: the index of inbound messages.
// - all others: the primary key.

/** A message that a scan returns: it matches the filters, or it is the last one that the page may read. */
interface ScannedRow extends MessageRow {
  readonly fits: boolean;
  readonly is_bound: boolean;
}

type Scan = Statement<
  [
    TeamId,
    before: string,
    from: string | null,
    to: string | null,
    status: MessageStatus | null,
    direction: 'inbound' | 'outbound' | null,
    limit: number,
    ...handle: [] | [string],
  ],
  ScannedRow
>;

/**
 * Defines a scan. One statement returns both the matches and the last position, because messages that arrive between
 * two statements would shift the position.
 * @param order the order of the index
 * @param rows SELECT of the messages before $2 in that order; $8 is the handle
 */
function defineScan(name: string, order: string, rows: string): Scan {
  return statement(
    `messages.list-${name}`,
    // The subqueries, from the inside: 1. the messages that the page may read; 2. which of them match, and which is the
    // last one; 3. the page.
    `SELECT ${sqlMessageColumns('m')}, m.fits, m.is_bound
     FROM (SELECT m.*, row_number() OVER (ORDER BY ${order}) = ${messagePageExaminedMax} AS is_bound,
             ($3::text IS NULL OR m.from_handle = $3) AND ($4::text IS NULL OR m.to_handle = $4)
               AND ($5::text IS NULL OR m.status = $5) AND ($6::text IS NULL OR m.direction = $6) AS fits
           FROM (${rows} ORDER BY ${order} LIMIT ${messagePageExaminedMax}) m) m
     WHERE m.fits OR m.is_bound ORDER BY ${order} LIMIT $7`,
  );
}

/**
 * A scan along the index (team, handle, id), from the position before $2 down to the first message of the handle. Row
 * comparisons instead of `handle = $8` force this index, whatever the statistics say; another index would read rows that
 * do not match.
 */
const defineHandleScan = (name: string, column: 'from_handle' | 'to_handle') =>
  defineScan(
    name,
    `m.team_id DESC, m.${column} DESC, m.id DESC`,
    `SELECT m.* FROM messages m
     WHERE (m.team_id, m.${column}, m.id) < ($1, $8, $2) AND m.id < $2
       AND (m.team_id, m.${column}, m.id) >= ($1, $8, '00000000-0000-0000-0000-000000000000')`,
  );

/**
 * A scan of the ids in a small table, for states that no index of the table messages covers. OFFSET 0 makes the planner
 * read the small table first.
 */
const defineIdScan = (name: string, messageIds: string) =>
  defineScan(
    name,
    'waiting_id DESC',
    `SELECT m.*, w.message_id AS waiting_id
     FROM (${messageIds} ORDER BY message_id DESC LIMIT ${messagePageExaminedMax}) w
     CROSS JOIN LATERAL (SELECT m.* FROM messages m WHERE m.team_id = $1 AND m.id = w.message_id OFFSET 0) m`,
  );

const ofTeam = 'SELECT m.* FROM messages m WHERE m.team_id = $1 AND m.id < $2';
const byTime = defineScan('by-time', 'm.id DESC', ofTeam);
const bySender = defineHandleScan('by-sender', 'from_handle');
const byRecipient = defineHandleScan('by-recipient', 'to_handle');
const failed = defineScan('failed', 'm.id DESC', `${ofTeam} AND m.failed_at IS NOT NULL`);
const inbound = defineScan('inbound', 'm.id DESC', `${ofTeam} AND m.direction LIKE 'inbound'`);
const queued = defineIdScan(
  'queued',
  'SELECT q.message_id FROM send_queue q WHERE q.team_id = $1 AND q.message_id < $2',
);
const polling = defineIdScan(
  'polling',
  `SELECT f.message_id FROM numbers n
   CROSS JOIN LATERAL (SELECT f.message_id FROM in_flight f WHERE f.number_id = n.id OFFSET 0) f
   WHERE n.team_id = $1 AND f.message_id < $2`,
);

/**
 * Lists a page of the team's messages, newest first (specification section 4.3). A page whose filters exclude most of
 * what it reads is short, and its cursor continues after the last message that it read.
 * @param view makes an item; the dashboard's items have the failure's code, too (specification section 12.3)
 * @throws AppError 400, param cursor, if it is no id of a message
 */
export async function listMessages<View extends Message>(
  services: Pick<Runtime, 'database'>,
  teamId: TeamId,
  asked: ListMessagesQuery,
  view: (message: MessageRow) => View,
): Promise<Omit<MessageList, 'messages'> & { messages: View[] }> {
  const query = asked.from === undefined ? asked : { ...asked, from: foldMailAddress(asked.from) };
  const { rows, ...page } = await readPage('msg', query, async (before, limit) => {
    const status = query.status === 'received' ? undefined : query.status;
    const direction = directionOf(query);
    if (direction === 'none') return [];
    const { scan, handle } = await chooseScan(services, teamId, query, direction);
    return scan.rows(
      services.database.pages,
      teamId,
      before,
      query.from ?? null,
      query.to ?? null,
      status ?? null,
      direction ?? null,
      limit,
      ...handle,
    );
  });
  return { messages: rows.map(view), ...page };
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
  { database }: Pick<Runtime, 'database'>,
  teamId: TeamId,
  { status, from, to }: ListMessagesQuery,
  direction: 'inbound' | 'outbound' | undefined,
): Promise<{ scan: Scan; handle: [] | [string] }> {
  if (status === 'queued') return { scan: queued, handle: [] };
  if (status === 'polling') return { scan: polling, handle: [] };
  if (status === 'failed') return { scan: failed, handle: [] };
  if (from !== undefined && to !== undefined) {
    // The scan follows the contact's handle, because the team's own number has more messages.
    const isOwn = (await findLiveNumberByPhone(database.pool, teamId, from)) !== undefined;
    return isOwn ? { scan: byRecipient, handle: [to] } : { scan: bySender, handle: [from] };
  }
  if (from !== undefined) return { scan: bySender, handle: [from] };
  if (to !== undefined) return { scan: byRecipient, handle: [to] };
  return { scan: direction === 'inbound' ? inbound : byTime, handle: [] };
}
