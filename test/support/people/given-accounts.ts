import type { Role } from '#contract/permissions.ts';
import type { AccountId, MemberId } from '#server/platform/ids.ts';
import { type HeldTransaction, holdTransaction } from '#test/support/database/held-transaction.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** Removes the password, so that the account signs in by link or passkey only. */
export async function dropPassword({ query }: Service, email: string): Promise<void> {
  one(await query('UPDATE accounts SET password_hash = NULL WHERE email = $1 RETURNING id', [email]));
}

/** Marks the address as verified, as the use of a mailed link does. */
export async function markEmailVerified({ query }: Service, email: string): Promise<void> {
  one(
    await query('UPDATE accounts SET email_verified_at = created_at WHERE email = $1 RETURNING id', [email]),
  );
}

/** Sets an invalid address, so that queuing a mail to it fails. @returns a function that restores the former address */
export async function breakEmail({ query }: Service, accountId: AccountId): Promise<() => Promise<void>> {
  one(await query(`UPDATE accounts SET email = 'no address' WHERE id = $1 RETURNING id`, [accountId]));
  return async () => {
    one(await query('UPDATE accounts SET email = normalized_email WHERE id = $1 RETURNING id', [accountId]));
  };
}

/** Inserts a passkey that no authenticator has. */
export async function putPasskey({ query }: Service, accountId: AccountId): Promise<void> {
  await query(
    `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, name, created_at)
     VALUES (gen_random_uuid(), $1::uuid, uuid_send($1::uuid), 'k', 0, '{}', 'Mine', now())`,
    [accountId],
  );
}

/** Changes the role in every team, without the lock of a team, which a test may hold. */
export async function setRole({ query }: Service, accountId: AccountId, role: Role): Promise<void> {
  one(await query('UPDATE members SET role = $2 WHERE account_id = $1 RETURNING id', [accountId, role]));
}

/** Changes the password in a transaction that commits when the test releases it. */
export function holdPasswordChange(
  service: Pick<TestService, 'databaseUrl'>,
  email: string,
): Promise<HeldTransaction> {
  return holdTransaction(service, `UPDATE accounts SET password_hash = 'another' WHERE email = $1`, [email]);
}

/** Changes a member's role in a transaction that commits when the test releases it. */
export function holdRoleChange(
  service: Pick<TestService, 'databaseUrl'>,
  memberId: MemberId,
  role: Role,
): Promise<HeldTransaction> {
  return holdTransaction(service, 'UPDATE members SET role = $2 WHERE id = $1', [memberId, role]);
}

function one(rows: readonly unknown[]): void {
  if (rows.length !== 1) throw new Error(`${rows.length} accounts match instead of one`);
}
