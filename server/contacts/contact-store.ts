import { query } from '#server/database/query.ts';
import type { ContactId, TeamId } from '#server/platform/ids.ts';

/** The person that has a handle. */
interface NameOfHandle {
  readonly handle: string;
  readonly id: ContactId;
  readonly name: string;
}

const listNameRows = query<{ teamId: TeamId; handles: readonly string[] }, NameOfHandle>(
  'contacts.names',
  `SELECT i.handle, p.id, p.name FROM unnest(:handles::text[]) AS i (handle)
   CROSS JOIN LATERAL (
     SELECT h.contact_id FROM contact_handles h WHERE h.team_id = :teamId AND h.handle = i.handle OFFSET 0
   ) h
   CROSS JOIN LATERAL (
     SELECT p.id, p.name FROM contacts p WHERE p.team_id = :teamId AND p.id = h.contact_id OFFSET 0
   ) p`,
).rows;

/** Finds the people of normalized handles. @returns them by handle */
export async function findNames(
  db: Parameters<typeof listNameRows>[0],
  teamId: TeamId,
  handles: readonly string[],
): Promise<ReadonlyMap<string, NameOfHandle>> {
  const rows = handles.length === 0 ? [] : await listNameRows(db, { teamId, handles: [...new Set(handles)] });
  return new Map(rows.map((row) => [row.handle, row]));
}

/** The handles of a contact, in their order. */
export const listHandles = query<{ teamId: TeamId; contactId: ContactId }, { handle: string }>(
  'contacts.handles',
  `SELECT h.handle FROM contact_handles h WHERE h.team_id = :teamId AND h.contact_id = :contactId
   ORDER BY h.team_id, h.contact_id, h.position`,
).rows;
