import type { EventType } from '#contract/event.ts';
import { type Transaction, transactionStatement } from '#server/database/statement.ts';
import type { EventId, MessageId, TeamId } from '#server/platform/ids/ids.ts';
import type { EnvelopeColumns } from './envelope.ts';

type DataRow = Pick<EnvelopeColumns, 'id' | 'type' | 'data'>;

/** Erases texts from the `data` of an event. @returns the `data` without the erased texts */
type EraseData = (
  type: EventType,
  data: Readonly<Record<string, unknown>>,
) => Readonly<Record<string, unknown>>;

const ofMessages = transactionStatement<[TeamId, readonly MessageId[]], DataRow>(
  'events.list-of-messages',
  `SELECT e.id, e.type, e.data FROM unnest($2::uuid[]) AS i (id)
   CROSS JOIN LATERAL (
     SELECT e.* FROM events e WHERE e.team_id = $1 AND e.message_id = i.id OFFSET 0
   ) e`,
);
// Reads a team's events backwards along the primary key, because no index covers contacts. `is_last` marks the last row
// that was read.
const ofContact = transactionStatement<
  [TeamId, string, string, number],
  DataRow & { readonly fits: boolean }
>(
  'events.list-of-contact',
  `SELECT e.id, e.type, e.data, e.fits FROM (
     SELECT e.*, coalesce(e.contact = $2, false) AS fits, row_number() OVER (ORDER BY e.team_id DESC, e.id DESC) = $4 AS is_last
     FROM (
       SELECT * FROM events WHERE team_id = $1 AND id < $3 ORDER BY team_id DESC, id DESC LIMIT $4
     ) e
   ) e WHERE e.fits OR e.is_last ORDER BY e.id DESC`,
);
// The range of ids is an index condition: a plan that was made while the table was empty reads no other rows.
const erase = transactionStatement<[TeamId, EventId[], string[], EventId | undefined, EventId | undefined]>(
  'events.erase',
  `UPDATE events e SET data = i.data, contact = CASE WHEN e.contact IS NOT NULL THEN '' END
   FROM unnest($2::uuid[], $3::text[]) AS i (id, data)
   WHERE e.team_id = $1 AND e.id = i.id AND e.id BETWEEN $4 AND $5`,
);

/**
 * Erases data of messages from their events, and so from later attempts and pages of the feed. @returns the event ids
 */
export async function eraseEventsOfMessages(
  trx: Transaction,
  teamId: TeamId,
  messageIds: readonly MessageId[],
  eraseData: EraseData,
): Promise<EventId[]> {
  return eraseRows(trx, teamId, await ofMessages.rows(trx, teamId, messageIds), eraseData);
}

/** Upper bound on the events that one step reads. */
const walkMax = 5_000;

/**
 * Reads the next events before an id, and erases a contact's data from its own events among them.
 * @returns the ids of erased events, and the id that the walk reached; `reached` is undefined at its end
 */
export async function eraseEventsOfContact(
  trx: Transaction,
  teamId: TeamId,
  contact: string,
  before: string,
  eraseData: EraseData,
): Promise<{ readonly events: readonly EventId[]; readonly reached: EventId | undefined }> {
  const rows = await ofContact.rows(trx, teamId, contact, before, walkMax);
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
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const erased = rows.map(({ type, data }) => JSON.stringify(eraseData(type, JSON.parse(data))));
  const sorted = ids.toSorted();
  await erase.run(trx, teamId, ids, erased, sorted[0], sorted.at(-1));
  return ids;
}
