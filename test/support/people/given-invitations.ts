import type { TeamId } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Sets a known token for a team's only invitation, because the original token is only in the mail. */
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
