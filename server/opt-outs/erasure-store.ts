import { query, transactionQuery } from '#server/database/query.ts';
import type { EventId, MessageId, TeamId } from '#server/platform/ids.ts';

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

const columns = 'team_id, contact, handles, until_id, contact_events, events_before, created_at';

type ErasureKey = Pick<ErasureRow, 'team_id' | 'contact'>;
type EventWalk = Pick<ErasureRow, 'contact_events' | 'events_before'>;

/** Inserts an erasure. A second request for a contact that is being erased extends the first erasure up to now. */
export const insertErasure = transactionQuery<Omit<ErasureRow, 'events_before'>, ErasureRow>(
  'erasures.insert',
  `INSERT INTO erasures AS e (team_id, contact, handles, until_id, contact_events, created_at)
   VALUES (:team_id, :contact, :handles, :until_id, :contact_events, :created_at)
   ON CONFLICT (team_id, contact) DO UPDATE SET until_id = excluded.until_id, handles = excluded.handles,
     contact_events = e.contact_events + excluded.contact_events, events_before = NULL
   RETURNING ${columns}`,
).one;

/** The oldest unfinished erasures. */
export const listErasures = query<{ readonly limit: number }, ErasureRow>(
  'erasures.list',
  `SELECT ${columns} FROM erasures ORDER BY created_at, team_id, contact LIMIT :limit`,
).rows;

/**
 * Locks the position of the walk over the contact's own events. Each batch advances it in its transaction, so that no
 * batch reads the same events again.
 * @returns undefined if no event is left
 */
export const lockEventWalk = transactionQuery<ErasureKey, EventWalk>(
  'erasures.lock-walk',
  `SELECT contact_events, events_before FROM erasures
   WHERE team_id = :team_id AND contact = :contact AND contact_events > 0 FOR NO KEY UPDATE`,
).row;

export const saveEventWalk = transactionQuery<ErasureKey & EventWalk>(
  'erasures.save-walk',
  `UPDATE erasures SET contact_events = :contact_events, events_before = :events_before
   WHERE team_id = :team_id AND contact = :contact`,
).run;

/** Deletes the row of a finished erasure. @returns false if the erasure was requested again meanwhile */
export const removeErasure = query<ErasureKey & Pick<ErasureRow, 'until_id'>>(
  'erasures.remove',
  'DELETE FROM erasures WHERE team_id = :team_id AND contact = :contact AND until_id = :until_id',
).hasRow;

/** The SQL condition that a contact of a team is being erased. It is cheap, because the table is usually empty. */
export function sqlIsBeingErased(teamId: string, contact: string): string {
  return `EXISTS (SELECT FROM erasures x WHERE x.team_id = ${teamId} AND x.contact = ${contact} OFFSET 0)`;
}
