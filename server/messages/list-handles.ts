import { query } from '#server/database/query.ts';
import type { Queryable } from '#server/database/statement.ts';
import { listSpellings } from '#server/opt-outs/contact-spellings.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

const ofConversations = query<{ teamId: TeamId; contact: string }, { handle: string }>(
  'messages.handles-of-contact',
  `SELECT DISTINCT h.handle FROM numbers n JOIN conversations c ON c.number_id = n.id AND c.contact = :contact
   CROSS JOIN unnest(c.handles) AS h (handle) WHERE n.team_id = :teamId`,
);

/**
 * Lists all spellings of a contact that the team's messages may have. Only a phone number has several: that of a sent
 * message stays as it was given.
 */
export async function listHandlesOfContact(
  db: Queryable,
  teamId: TeamId,
  contact: string,
): Promise<string[]> {
  const kept = await ofConversations.rows(db, { teamId, contact });
  return [...new Set([...listSpellings(contact), ...kept.map(({ handle }) => handle)])];
}
