import type { Role } from '#contract/permissions.ts';
import type { AccountId, MemberId } from '#server/platform/ids.ts';
import { heldBy } from '#test/support/database/held-transaction.ts';
import { changeBy, changeOneBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** Removes the password, so that the account signs in by link or passkey only. */
export const dropPassword = changeOneBy<[email: string]>(
  'UPDATE accounts SET password_hash = NULL WHERE email = $1',
);

/** Marks the address as verified, as the use of a mailed link does. */
export const markEmailVerified = changeOneBy<[email: string]>(
  'UPDATE accounts SET email_verified_at = created_at WHERE email = $1',
);

/** Sets an invalid address, so that queuing a mail to it fails. @returns a function that restores the former address */
export async function breakEmail(service: Service, accountId: AccountId): Promise<() => Promise<void>> {
  await setEmail(service, accountId, 'no address');
  return () => setEmail(service, accountId);
}
const setEmail = changeOneBy<[accountId: AccountId, email?: string]>(
  'UPDATE accounts SET email = coalesce($2, normalized_email) WHERE id = $1',
);

/** Inserts a passkey that no authenticator has. */
export const putPasskey = changeBy<[accountId: AccountId]>(
  `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, name, created_at)
   VALUES (gen_random_uuid(), $1::uuid, uuid_send($1::uuid), 'k', 0, '{}', 'Mine', now())`,
);

/** Changes the role in every team, without the lock of a team, which a test may hold. */
export const setRole = changeOneBy<[accountId: AccountId, role: Role]>(
  'UPDATE members SET role = $2 WHERE account_id = $1',
);

/** Changes the password in a transaction that commits when the test releases it. */
export const holdPasswordChange = heldBy<[email: string]>(
  `UPDATE accounts SET password_hash = 'another' WHERE email = $1`,
);

/** Changes a member's role in a transaction that commits when the test releases it. */
export const holdRoleChange = heldBy<[memberId: MemberId, role: Role]>(
  'UPDATE members SET role = $2 WHERE id = $1',
);
