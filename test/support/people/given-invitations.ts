import type { TeamId } from '#server/platform/ids/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Gives the one invitation of a team another token: that of a mailed one is in the mail only. */
export async function setInvitationToken(
  { query }: Pick<TestService, 'query'>,
  teamId: TeamId,
  token: string,
): Promise<void> {
  const rows = await query(
    `UPDATE invitations SET token_hash = sha256(convert_to($2, 'UTF8')) WHERE team_id = $1 RETURNING id`,
    [teamId, token],
  );
  if (rows.length !== 1) throw new Error(`${rows.length} invitations instead of one`);
}
