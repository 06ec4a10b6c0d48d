import type { TeamId } from '#server/platform/ids.ts';
import { rowsBy } from '#test/support/database/statement.ts';

interface StoredInvitation {
  readonly email: string | null;
  /** True if accepting the invitation verifies the address. */
  readonly verifiesEmail: boolean;
}

/** Invitations of a team, oldest first, with used and revoked ones. */
export const storedInvitations = rowsBy<StoredInvitation, [teamId: TeamId]>(
  'SELECT email, verifies_email AS "verifiesEmail" FROM invitations WHERE team_id = $1 ORDER BY id',
);
