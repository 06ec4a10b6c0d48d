import type { TeamId } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

export interface StoredInvitation {
  readonly email: string | null;
  /** True if accepting the invitation verifies the address. */
  readonly verifiesEmail: boolean;
}

/** Invitations of a team, oldest first, with used and revoked ones. */
export function storedInvitations({ query }: Service, teamId: TeamId): Promise<StoredInvitation[]> {
  return query<StoredInvitation>(
    'SELECT email, verifies_email AS "verifiesEmail" FROM invitations WHERE team_id = $1 ORDER BY id',
    [teamId],
  );
}
