import type { Role } from '#contract/permissions.ts';
import type { AccountId, MemberId } from '#server/platform/ids/ids.ts';
import { type HeldTransaction, holdTransaction } from '#test/support/service/held-transaction.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** The account signs in by link or passkey only from now on. */
export async function dropPassword({ query }: Service, email: string): Promise<void> {
  one(await query('UPDATE accounts SET password_hash = NULL WHERE email = $1 RETURNING id', [email]));
}

/** As if its person had used a link that was mailed to the address. */
export async function markEmailVerified({ query }: Service, email: string): Promise<void> {
  one(
    await query('UPDATE accounts SET email_verified_at = created_at WHERE email = $1 RETURNING id', [email]),
  );
}

/** An address that no mail can be sent to: its queueing fails. @returns a function that restores the former one */
export async function breakEmail({ query }: Service, accountId: AccountId): Promise<() => Promise<void>> {
  one(await query(`UPDATE accounts SET email = 'no address' WHERE id = $1 RETURNING id`, [accountId]));
  return async () => {
    one(await query('UPDATE accounts SET email = normalized_email WHERE id = $1 RETURNING id', [accountId]));
  };
}

/** A passkey that no authenticator has. */
export async function putPasskey({ query }: Service, accountId: AccountId): Promise<void> {
  await query(
    `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, name, created_at)
     VALUES (gen_random_uuid(), $1::uuid, uuid_send($1::uuid), 'k', 0, '{}', 'Mine', now())`,
    [accountId],
  );
}

/** Another role in every team, without the lock of a team that a test may hold. */
export async function setRole({ query }: Service, accountId: AccountId, role: Role): Promise<void> {
  one(await query('UPDATE members SET role = $2 WHERE account_id = $1 RETURNING id', [accountId, role]));
}

/** A transaction that has replaced the password and has not committed. */
export function holdPasswordChange(
  service: Pick<TestService, 'databaseUrl'>,
  email: string,
): Promise<HeldTransaction> {
  return holdTransaction(service, `UPDATE accounts SET password_hash = 'another' WHERE email = $1`, [email]);
}

/** A transaction that has given a member another role and has not committed. */
export function holdRoleChange(
  service: Pick<TestService, 'databaseUrl'>,
  memberId: MemberId,
  role: Role,
): Promise<HeldTransaction> {
  return holdTransaction(service, 'UPDATE members SET role = $2 WHERE id = $1', [memberId, role]);
}

function one(rows: readonly unknown[]): void {
  if (rows.length !== 1) throw new Error(`${rows.length} rows instead of one`);
}
