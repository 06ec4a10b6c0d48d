import { type Queryable, statement } from '#server/database/statement.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { listSpellings } from '#server/opt-outs/contact-spellings.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

/** Maximum number of handles that one statement reads. */
const handlesMax = 2_000;

// Loose index scan: jumps from sender to sender, however many messages each has.
const walkSenders = statement<[TeamId, string, number], { handle: string }>(
  'messages.walk-senders',
  `WITH RECURSIVE h AS (
     (SELECT m.from_handle AS handle FROM messages m WHERE m.team_id = $1 AND m.from_handle > $2
      ORDER BY m.team_id, m.from_handle LIMIT 1)
     UNION ALL
     SELECT n.handle FROM h CROSS JOIN LATERAL (
       SELECT m.from_handle AS handle FROM messages m WHERE m.team_id = $1 AND m.from_handle > h.handle
       ORDER BY m.team_id, m.from_handle LIMIT 1
     ) n
   )
   SELECT handle FROM h LIMIT $3`,
);
const ofConversations = statement<[TeamId, string], { handle: string }>(
  'messages.handles-of-contact',
  `SELECT DISTINCT h.handle FROM numbers n JOIN conversations c ON c.number_id = n.id AND c.contact = $2
   CROSS JOIN unnest(c.handles) AS h (handle) WHERE n.team_id = $1`,
);

/**
 * Lists all spellings of a contact that the team's messages may have. An e-mail address may be stored in any case. It
 * is searched for only among senders, because Ownline never texts an e-mail address.
 */
export async function listHandlesOfContact(
  db: Queryable,
  teamId: TeamId,
  contact: string,
): Promise<string[]> {
  const kept = await ofConversations.rows(db, teamId, contact);
  const handles = new Set([...listSpellings(contact), ...kept.map(({ handle }) => handle)]);
  if (!contact.includes('@')) return [...handles];
  for (let last: string | undefined = ''; last !== undefined; ) {
    const found: { handle: string }[] = await walkSenders.rows(db, teamId, last, handlesMax);
    for (const { handle } of found) if (contactOf(handle) === contact) handles.add(handle);
    last = found.length < handlesMax ? undefined : found.at(-1)?.handle;
  }
  return [...handles];
}
