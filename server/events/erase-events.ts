import type { EventType } from '#contract/event.ts';
import {
  type History,
  lockOldRows,
  nextIdOf,
  type OldTeamRow,
  removeOldRows,
} from '#server/database/purge-walk.ts';
import { type Transaction, transactionQuery } from '#server/database/query.ts';
import type { EventId, MessageId, TeamId } from '#server/platform/ids.ts';
import { type EnvelopeColumns, sqlDeliveryIdRange } from './append-events.ts';

type DataRow = Pick<EnvelopeColumns, 'id' | 'type' | 'data'>;

/** Erases texts from the `data` of an event. @returns the `data` without the erased texts */
type EraseData = (
  type: EventType,
  data: Readonly<Record<string, unknown>>,
) => Readonly<Record<string, unknown>>;

const ofMessages = transactionQuery<{ teamId: TeamId; messageIds: readonly MessageId[] }, DataRow>(
  'events.list-of-messages',
  `SELECT e.id, e.type, e.data FROM unnest(:messageIds::uuid[]) AS i (id)
   CROSS JOIN LATERAL (
     SELECT e.id, e.type, e.data FROM events e WHERE e.team_id = :teamId AND e.message_id = i.id OFFSET 0
   ) e`,
).rows;
/** Upper bound on the events that one step reads. */
const walkMax = 5_000;

// Reads a team's events backwards along the primary key, because no index covers contacts. `is_last` marks the last row
// that was read.
const ofContact = transactionQuery<
  { teamId: TeamId; contact: string; before: string },
  DataRow & { readonly fits: boolean }
>(
  'events.list-of-contact',
  `SELECT e.id, e.type, e.data, e.fits FROM (
     SELECT e.id, e.type, e.data, coalesce(e.contact = :contact, false) AS fits, row_number() OVER (ORDER BY e.team_id DESC, e.id DESC) = ${walkMax} AS is_last
     FROM (
       SELECT team_id, id, type, data, contact FROM events WHERE team_id = :teamId AND id < :before ORDER BY team_id DESC, id DESC LIMIT ${walkMax}
     ) e
   ) e WHERE e.fits OR e.is_last ORDER BY e.id DESC`,
).rows;
// The range of ids is an index condition: a plan that was made while the table was empty reads no other rows.
const erase = transactionQuery<{
  teamId: TeamId;
  ids: EventId[];
  data: string[];
  first: EventId;
  last: EventId;
}>(
  'events.erase',
  `UPDATE events e SET data = i.data, contact = CASE WHEN e.contact IS NOT NULL THEN '' END
   FROM unnest(:ids::uuid[], :data::text[]) AS i (id, data)
   WHERE e.team_id = :teamId AND e.id = i.id AND e.id BETWEEN :first AND :last`,
).run;

/**
 * Erases data of messages from their events, and so from later attempts and pages of the feed. @returns the event ids
 */
export async function eraseEventsOfMessages(
  trx: Transaction,
  teamId: TeamId,
  messageIds: readonly MessageId[],
  eraseData: EraseData,
): Promise<EventId[]> {
  return eraseRows(trx, teamId, await ofMessages(trx, { teamId, messageIds }), eraseData);
}

/**
 * Reads the next events before an id, and erases a contact's data from its own events among them.
 * @returns the ids of erased events, and as `reached` the id at which the next call continues; undefined if no event is
 * left
 */
export async function eraseEventsOfContact(
  trx: Transaction,
  teamId: TeamId,
  contact: string,
  before: string,
  eraseData: EraseData,
): Promise<{ readonly events: readonly EventId[]; readonly reached: EventId | undefined }> {
  const rows = await ofContact(trx, { teamId, contact, before });
  const fitting = rows.filter(({ fits }) => fits);
  const events = await eraseRows(trx, teamId, fitting, eraseData);
  const last = rows.at(-1);
  return { events, reached: last?.id };
}

async function eraseRows(
  trx: Transaction,
  teamId: TeamId,
  rows: readonly DataRow[],
  eraseData: EraseData,
): Promise<EventId[]> {
  const ids = rows.map((row) => row.id);
  const data = rows.map((row) => JSON.stringify(eraseData(row.type, JSON.parse(row.data))));
  const sorted = ids.toSorted();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first !== undefined && last !== undefined) await erase(trx, { teamId, ids, data, first, last });
  return ids;
}

// Records the newest position that was removed from each team's feed, so that later readers learn of the gap.
const sqlKeepNewest = `
  INSERT INTO feed_removals (team_id, position, event_id)
  SELECT DISTINCT ON (team_id) team_id, position, event_id FROM unlisted ORDER BY team_id, position DESC
  ON CONFLICT (team_id) DO UPDATE SET position = EXCLUDED.position, event_id = EXCLUDED.event_id
  WHERE feed_removals.position < EXCLUDED.position`;
const sqlUnlist = `
  WITH unlisted AS (
    DELETE FROM event_feed f USING unnest(:teamIds::uuid[], :ids::uuid[]) AS i (team_id, id)
    WHERE f.team_id = i.team_id AND f.event_id = i.id
    RETURNING f.team_id, f.position, f.event_id
  ), newest AS (${sqlKeepNewest})`;

/** Deletes old events. Events without a position in the feed, or with a delivery, stay. */
export const eventHistory: History<OldTeamRow> = {
  name: 'events',
  findNext: nextIdOf('events'),
  lock: lockOldRows(
    'events',
    `EXISTS (SELECT FROM event_feed f WHERE f.team_id = h.team_id AND f.event_id = h.id OFFSET 0)
     AND NOT EXISTS (
       SELECT FROM deliveries d WHERE d.team_id = h.team_id AND ${sqlDeliveryIdRange('d.id', 'h.id')} OFFSET 0)`,
  ),
  remove: removeOldRows('events', sqlUnlist),
};
