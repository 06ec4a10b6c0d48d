import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import type { EventId, MessageId, TeamId } from '#server/platform/ids/ids.ts';

/** An unfinished erasure of a contact. */
export interface ErasureRow {
  readonly team_id: TeamId;
  /** The normalized handle. */
  readonly contact: string;
  /** Spellings of the contact in messages, itself included. */
  readonly handles: readonly string[];
  /** Messages with greater ids are kept. */
  readonly until_id: MessageId;
  /** How many of the contact's opt-out events are left to erase. */
  readonly contact_events: number;
  /** The walk over the contact's events continues before this event; null at its beginning. */
  readonly events_before: EventId | null;
  readonly created_at: Date;
}

// A second request for a contact that is being erased extends the first erasure up to now.
const insert = transactionStatement<[TeamId, string, readonly string[], MessageId, number, Date], ErasureRow>(
  'erasures.insert',
  `INSERT INTO erasures AS e (team_id, contact, handles, until_id, contact_events, created_at) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (team_id, contact) DO UPDATE SET until_id = excluded.until_id, handles = excluded.handles,
     contact_events = e.contact_events + excluded.contact_events, events_before = NULL
   RETURNING *`,
);

/** The oldest unfinished erasures. */
export const listErasures = statement<[limit: number], ErasureRow>(
  'erasures.list',
  'SELECT * FROM erasures ORDER BY created_at, team_id, contact LIMIT $1',
).rows;
const lockWalk = transactionStatement<[TeamId, string], Pick<ErasureRow, 'contact_events' | 'events_before'>>(
  'erasures.lock-walk',
  `SELECT contact_events, events_before FROM erasures WHERE team_id = $1 AND contact = $2 AND contact_events > 0
   FOR NO KEY UPDATE`,
);
const saveWalk = transactionStatement<[TeamId, string, number, EventId | null]>(
  'erasures.save-walk',
  'UPDATE erasures SET contact_events = $3, events_before = $4 WHERE team_id = $1 AND contact = $2',
);
// If the erasure was requested again meanwhile, until_id has changed, and the row is kept.
const remove = statement<[TeamId, string, MessageId]>(
  'erasures.remove',
  'DELETE FROM erasures WHERE team_id = $1 AND contact = $2 AND until_id = $3 RETURNING *',
);

/** The SQL condition that a contact of a team is being erased. The table is usually empty. */
export function sqlIsBeingErased(teamId: string, contact: string): string {
  return `EXISTS (SELECT FROM erasures x WHERE x.team_id = ${teamId} AND x.contact = ${contact} OFFSET 0)`;
}

export async function insertErasure(
  trx: Transaction,
  row: Omit<ErasureRow, 'events_before'>,
): Promise<ErasureRow> {
  const { team_id, contact, handles, until_id, contact_events, created_at } = row;
  const stored = await insert.row(trx, team_id, contact, handles, until_id, contact_events, created_at);
  if (!stored) throw new Error('the INSERT of an erasure returned no row');
  return stored;
}

/**
 * Locks the position of the walk over the contact's own events. Each batch advances it in its transaction, so that no
 * batch reads the same events again.
 * @returns undefined if no event is left
 */
export function lockEventWalk(
  trx: Transaction,
  { team_id, contact }: Pick<ErasureRow, 'team_id' | 'contact'>,
): Promise<Pick<ErasureRow, 'contact_events' | 'events_before'> | undefined> {
  return lockWalk.row(trx, team_id, contact);
}

export async function saveEventWalk(
  trx: Transaction,
  {
    team_id,
    contact,
    contact_events,
    events_before,
  }: Omit<ErasureRow, 'handles' | 'until_id' | 'created_at'>,
): Promise<void> {
  await saveWalk.run(trx, team_id, contact, contact_events, events_before);
}

/** Deletes the row of a finished erasure. @returns false if the erasure was requested again meanwhile */
export async function removeErasure(
  db: Queryable,
  { team_id, contact, until_id }: ErasureRow,
): Promise<boolean> {
  return remove.hasRow(db, team_id, contact, until_id);
}
