import type { NumberId, TeamId } from '#server/platform/ids/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Inserts a process's lease on a simulated phone, for any number. */
export async function putLease(
  { query }: Pick<TestService, 'query'>,
  lease: {
    readonly teamId: TeamId;
    readonly numberId: NumberId;
    readonly holder: string;
    readonly leasedUntil: Date;
  },
): Promise<void> {
  await query(
    'INSERT INTO simulated_phones (number_id, team_id, holder, leased_until) VALUES ($1, $2, $3, $4)',
    [lease.numberId, lease.teamId, lease.holder, lease.leasedUntil],
  );
}
