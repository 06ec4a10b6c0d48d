import { type ListMessagesQuery, listLimitDefault, type MessageList } from '#contract/message.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Statement, statement } from '#server/database/statement.ts';
import { findLiveNumberByPhone } from '#server/numbers/number-store.ts';
import { invalid } from '#server/platform/app-error.ts';
import { type MessageId, parseId, publicId, type TeamId } from '#server/platform/ids.ts';
import { type MessageRow, sqlMessage } from './message.ts';
import { messageView } from './message-view.ts';

/**
 * What a page may read at most. Where filters leave little of that, the page is short, and its cursor is the place
 * that was reached: so every page of every filter costs the same at most, however large the history (decision 0012).
 */
export const examinedMax = 10_000;

/** After every id: where the first page begins. */
const beginning = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

interface Source {
  readonly page: Statement<MessageRow>;
  readonly reached: Statement<{ id: MessageId }>;
}

/**
 * A way through the messages of a team, newest first, along an index.
 * @param rows FROM and WHERE up to there; it is given the parameter that holds the handle it goes along, if any
 */
function source(name: string, rows: (handle: string) => string): Source {
  return {
    page: statement<MessageRow>(
      `messages.list-${name}`,
      `SELECT ${sqlMessage('m')}
       FROM (SELECT m.* FROM ${rows('$8')} ORDER BY m.id DESC LIMIT ${examinedMax}) m
       WHERE ($3::text IS NULL OR m.from_handle = $3) AND ($4::text IS NULL OR m.to_handle = $4)
         AND ($5::text IS NULL OR m.status = $5) AND ($6::text IS NULL OR m.direction = $6)
       ORDER BY m.id DESC LIMIT $7`,
    ),
    reached: statement<{ id: MessageId }>(
      `messages.list-${name}-reached`,
      `SELECT m.id FROM ${rows('$3')} ORDER BY m.id DESC OFFSET ${examinedMax - 1} LIMIT 1`,
    ),
  };
}

const ofTeam = 'm.team_id = $1 AND m.id < $2';
const byTime = source('by-time', () => `messages m WHERE ${ofTeam}`);
const bySender = source('by-sender', (handle) => `messages m WHERE ${ofTeam} AND m.from_handle = ${handle}`);
const byRecipient = source(
  'by-recipient',
  (handle) => `messages m WHERE ${ofTeam} AND m.to_handle = ${handle}`,
);
const failed = source('failed', () => `messages m WHERE ${ofTeam} AND m.failed_at IS NOT NULL`);
// What waits and what flies are small tables of their own: no index of the history knows these states.
const queued = source(
  'queued',
  () =>
    `send_queue q JOIN messages m ON m.team_id = q.team_id AND m.id = q.message_id
     WHERE q.team_id = $1 AND q.message_id < $2`,
);
const polling = source(
  'polling',
  () =>
    `numbers n JOIN in_flight f ON f.number_id = n.id JOIN messages m ON m.team_id = f.team_id AND m.id = f.message_id
     WHERE n.team_id = $1 AND f.message_id < $2`,
);

/**
 * A page of the team's messages, newest first (specification section 4.3).
 * @throws AppError 400, param cursor, where it is no id of a message
 */
export async function listMessages(
  services: Pick<Runtime, 'database'>,
  teamId: TeamId,
  query: ListMessagesQuery,
): Promise<MessageList> {
  const before = readCursor(query.cursor);
  const limit = query.limit ?? listLimitDefault;
  const status = query.status === 'received' ? undefined : query.status;
  const direction = directionOf(query);
  if (direction === 'none') return { messages: [], cursor: '', has_more: false };
  const { source, along } = await choose(services, teamId, query);
  const rows = await source.page.rows(
    services.database.pool,
    teamId,
    before,
    query.from ?? null,
    query.to ?? null,
    status ?? null,
    direction ?? null,
    limit + 1,
    ...along,
  );
  const messages = rows.slice(0, limit).map(messageView);
  const last = messages.at(-1)?.id ?? '';
  if (rows.length > limit) return { messages, cursor: last, has_more: true };
  const reached = await source.reached.row(services.database.pool, teamId, before, ...along);
  if (!reached) return { messages, cursor: last, has_more: false };
  return { messages, cursor: publicId('msg', reached.id), has_more: true };
}

/** A position, never looked up: the page begins after it. */
function readCursor(cursor: string | undefined): string {
  if (cursor === undefined || cursor === '') return beginning;
  const id = parseId('msg', cursor);
  if (id) return id;
  throw invalid('cursor', 'cursor must be the cursor of the page before, or be left out for the first page.');
}

/** received is the direction inbound, every other status is of outbound messages; `none` where filters exclude each other. */
function directionOf({ status, direction }: ListMessagesQuery): 'inbound' | 'outbound' | 'none' | undefined {
  if (status === undefined) return direction;
  const implied = status === 'received' ? 'inbound' : 'outbound';
  return direction === undefined || direction === implied ? implied : 'none';
}

async function choose(
  { database }: Pick<Runtime, 'database'>,
  teamId: TeamId,
  { status, from, to }: ListMessagesQuery,
): Promise<{ source: Source; along: string[] }> {
  if (status === 'queued') return { source: queued, along: [] };
  if (status === 'polling') return { source: polling, along: [] };
  if (status === 'failed') return { source: failed, along: [] };
  if (from !== undefined && to !== undefined) {
    // Along the contact: the team's own number has the longer history.
    const isOwn = (await findLiveNumberByPhone(database.pool, teamId, from)) !== undefined;
    return isOwn ? { source: byRecipient, along: [to] } : { source: bySender, along: [from] };
  }
  if (from !== undefined) return { source: bySender, along: [from] };
  if (to !== undefined) return { source: byRecipient, along: [to] };
  return { source: byTime, along: [] };
}
