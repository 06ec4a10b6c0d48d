import type { NumberId, TeamId } from '#server/platform/ids.ts';
import { countBy, onlyRowBy } from '#test/support/database/statement.ts';

interface StoredNumber {
  readonly id: NumberId;
  readonly teamId: TeamId;
  readonly phoneNumber: string;
  readonly label: string;
  readonly status: 'active' | 'paused';
  readonly onUnconfirmed: 'fail' | 'retry_once';
  readonly verifiedAt: Date | null;
  readonly pendingUntil: Date | null;
  readonly createdAt: Date;
}

/** All columns of a number that is not deleted. @throws if there is none */
export const storedNumber = onlyRowBy<StoredNumber, [phoneNumber: string]>(
  `SELECT id, team_id AS "teamId", phone_number AS "phoneNumber", label, status, on_unconfirmed AS "onUnconfirmed",
     verified_at AS "verifiedAt", pending_until AS "pendingUntil", created_at AS "createdAt"
   FROM numbers WHERE phone_number = $1 AND deleted_at IS NULL`,
);

/** Counts the numbers that no transaction has locked. */
export const countUnlockedNumbers = countBy<[phoneNumbers: readonly string[]]>(
  'SELECT FROM numbers WHERE deleted_at IS NULL AND phone_number = ANY ($1) FOR UPDATE SKIP LOCKED',
);
