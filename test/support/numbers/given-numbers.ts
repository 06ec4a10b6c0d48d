import type { NumberId, TeamId } from '#server/platform/ids.ts';
import { heldBy } from '#test/support/database/held-transaction.ts';
import { changeBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

interface NumberOptions {
  readonly status?: 'active' | 'paused';
  /** True for a number that no phone has polled for. */
  readonly isPending?: boolean;
}

/** Inserts a number without a setup link and a phone. */
export async function putNumber(
  { runtime, clock, query }: Pick<TestService, 'runtime' | 'clock' | 'query'>,
  teamId: TeamId,
  phoneNumber: string,
  { status = 'active', isPending = false }: NumberOptions = {},
): Promise<NumberId> {
  const id = runtime.ids.next('num');
  const now = clock.now();
  await query(
    `INSERT INTO numbers (team_id, id, phone_number, status, created_at, verified_at, pending_until)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      teamId,
      id,
      phoneNumber,
      status,
      now,
      isPending ? null : now,
      isPending ? clock.in(7 * 86_400_000) : null,
    ],
  );
  return id;
}

/** Marks a number as deleted without the other effects of a deletion. */
export const markNumberDeleted = changeBy<[numberId: NumberId]>(
  'UPDATE numbers SET deleted_at = created_at WHERE id = $1',
);

/** Deletes all numbers of a team in a transaction that commits when the test releases it. */
export const holdNumberDeletion = heldBy<[teamId: TeamId]>(
  'UPDATE numbers SET deleted_at = created_at WHERE team_id = $1',
);

/** Pauses a number in a transaction that commits when the test releases it. */
export const holdPause = heldBy<[phoneNumber: string]>(
  `UPDATE numbers SET status = 'paused' WHERE phone_number = $1`,
);

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
