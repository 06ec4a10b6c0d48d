import type { TeamId } from '#server/platform/ids.ts';
import { foldForSearch, wordsOf } from '#server/platform/search-words.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Inserts a contact with its handles and the words of its name. */
export async function putContact(
  { query, runtime }: Pick<TestService, 'query' | 'runtime'>,
  teamId: TeamId,
  name: string,
  handles: readonly string[],
): Promise<void> {
  await query(
    `WITH contact AS (
       INSERT INTO contacts (team_id, id, name, created_at, updated_at) VALUES ($1, $2, $3, to_timestamp(0), to_timestamp(0))
     ), handles AS (
       INSERT INTO contact_handles (team_id, handle, contact_id, position)
       SELECT $1, handle, $2, n - 1 FROM unnest($4::text[]) WITH ORDINALITY AS h (handle, n)
     )
     INSERT INTO contact_words (team_id, word, contact_id) SELECT $1, word, $2 FROM unnest($5::text[]) AS word`,
    [teamId, runtime.ids.next('con'), name, handles, wordsOf(foldForSearch(name))],
  );
}
