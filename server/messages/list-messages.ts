import type { ListMessagesQuery, Message, MessageList, MessageStatus } from '#contract/message.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Statement, statement } from '#server/database/statement.ts';
import { findLiveNumberByPhone } from '#server/numbers/number-store.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { readPage } from '#server/platform/paging.ts';
import { messagePageExaminedMax } from './limits.ts';
import { type MessageRow, sqlMessageColumns } from './message.ts';

/** A message that the page read: it matches the filters, or it is the last one that the page may read. */
interface PageRow extends MessageRow {
  readonly fits: boolean;
  readonly is_bound: boolean;
}

type PageStatement = Statement<
  [
    TeamId,
    before: string,
    from: string | null,
    to: string | null,
    status: MessageStatus | null,
    direction: 'inbound' | 'outbound' | null,
    limit: number,
    ...along: [] | [handle: string],
  ],
  PageRow
>;

/**
 * A scan of a team's messages along an index, newest first. One statement returns both the matches and the last
 * position, because messages that arrive between two statements would shift the position.
 * @param order the order of the index
 * @param rows SELECT of the messages before $2 in that order; $8 is the handle
 */
function source(name: string, order: string, rows: string): PageStatement {
  return statement(
    `messages.list-${name}`,
    `SELECT ${sqlMessageColumns('m')}, m.fits, m.is_bound
     FROM (SELECT m.*, row_number() OVER (ORDER BY ${order}) = ${messagePageExaminedMax} AS is_bound,
             ($3::text IS NULL OR m.from_handle = $3) AND ($4::text IS NULL OR m.to_handle = $4)
               AND ($5::text IS NULL OR m.status = $5) AND ($6::text IS NULL OR m.direction = $6) AS fits
           FROM (${rows} ORDER BY ${order} LIMIT ${messagePageExaminedMax}) m) m
     WHERE m.fits OR m.is_bound ORDER BY ${order} LIMIT $7`,
  );
}

/**
 * A scan along (team, handle, id). Row comparisons instead of `handle = $8` force the planner to use this index,
 * whatever the statistics say. Another index would read rows that do not match.
 */
const alongHandle = (name: string, column: 'from_handle' | 'to_handle') =>
  source(
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
const alongIds = (name: string, messageIds: string) =>
  source(
    name,
    'waiting_id DESC',
    `SELECT m.*, w.message_id AS waiting_id
     FROM (${messageIds} ORDER BY message_id DESC LIMIT ${messagePageExaminedMax}) w
     CROSS JOIN LATERAL (SELECT m.* FROM messages m WHERE m.team_id = $1 AND m.id = w.message_id OFFSET 0) m`,
  );

const ofTeam = 'SELECT m.* FROM messages m WHERE m.team_id = $1 AND m.id < $2';
const byTime = source('by-time', 'm.id DESC', ofTeam);
const bySender = alongHandle('by-sender', 'from_handle');
const byRecipient = alongHandle('by-recipient', 'to_handle');
const failed = source('failed', 'm.id DESC', `${ofTeam} AND m.failed_at IS NOT NULL`);
const queued = alongIds(
  'queued',
  'SELECT q.message_id FROM send_queue q WHERE q.team_id = $1 AND q.message_id < $2',
);
const polling = alongIds(
  'polling',
  `SELECT f.message_id FROM numbers n
   CROSS JOIN LATERAL (SELECT f.message_id FROM in_flight f WHERE f.number_id = n.id OFFSET 0) f
   WHERE n.team_id = $1 AND f.message_id < $2`,
);

/**
 * Lists a page of the team's messages, newest first (specification section 4.3).
 * @param view makes an item; the dashboard's items have the failure's code, too (specification section 12.3)
 * @throws AppError 400, param cursor, if it is no id of a message
 */
export async function listMessages<View extends Message>(
  services: Pick<Runtime, 'database'>,
  teamId: TeamId,
  query: ListMessagesQuery,
  view: (message: MessageRow) => View,
): Promise<Omit<MessageList, 'messages'> & { messages: View[] }> {
  const { rows, ...page } = await readPage('msg', query, async (before, limit) => {
    const status = query.status === 'received' ? undefined : query.status;
    const direction = directionOf(query);
    if (direction === 'none') return [];
    const { source, along } = await choose(services, teamId, query);
    return source.rows(
      services.database.pages,
      teamId,
      before,
      query.from ?? null,
      query.to ?? null,
      status ?? null,
      direction ?? null,
      limit,
      ...along,
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

async function choose(
  { database }: Pick<Runtime, 'database'>,
  teamId: TeamId,
  { status, from, to }: ListMessagesQuery,
): Promise<{ source: PageStatement; along: [] | [handle: string] }> {
  if (status === 'queued') return { source: queued, along: [] };
  if (status === 'polling') return { source: polling, along: [] };
  if (status === 'failed') return { source: failed, along: [] };
  if (from !== undefined && to !== undefined) {
    // The contact is searched for, because the team's own number has more messages.
    const isOwn = (await findLiveNumberByPhone(database.pool, teamId, from)) !== undefined;
    return isOwn ? { source: byRecipient, along: [to] } : { source: bySender, along: [from] };
  }
  if (from !== undefined) return { source: bySender, along: [from] };
  if (to !== undefined) return { source: byRecipient, along: [to] };
  return { source: byTime, along: [] };
}
