import type { TeamId } from '#server/platform/ids.ts';
import { changeOneBy } from '#test/support/database/statement.ts';

/** Sets a known token for a team's only invitation, because the original token is only in the mail. */
export const setInvitationToken = changeOneBy<[teamId: TeamId, token: string]>(
  "UPDATE invitations SET token_hash = sha256(convert_to($2, 'UTF8')) WHERE team_id = $1",
);
