import type { TeamId } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Inserts contacts without handles, older than all others. */
export async function putContacts(
  { query }: Pick<TestService, 'query'>,
  teamId: TeamId,
  count: number,
): Promise<void> {
  await query(
    `INSERT INTO contacts (team_id, id, name, created_at, updated_at)
     SELECT $1, ('01990000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Person ' || n, to_timestamp(0), to_timestamp(0)
     FROM generate_series(1, $2::int) AS n`,
    [teamId, count],
  );
}
