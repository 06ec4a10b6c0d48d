import { query } from '#server/database/query.ts';
import { type Queryable, statement, transactionStatement } from '#server/database/statement.ts';
import type { AccountId, TeamId } from '#server/platform/ids/ids.ts';
import { normalizeEmail } from './email.ts';

export interface AccountRow {
  readonly id: AccountId;
  readonly email: string;
  readonly normalized_email: string;
  readonly name: string;
  readonly password_hash: string | null;
  /** When a person first proved that the address belongs to them; null before (specification section 12.1). */
  readonly email_verified_at: Date | null;
  /** Device cookies set before this time are revoked (specification section 12.2). */
  readonly device_cookies_valid_from: Date | null;
  readonly created_at: Date;
}

/** Inserts an account. @returns undefined if an account with this address exists */
export const insertAccount = query<
  Omit<AccountRow, 'password_hash' | 'device_cookies_valid_from'>,
  AccountRow
>(
  'accounts.insert',
  `INSERT INTO accounts (id, email, normalized_email, name, email_verified_at, created_at)
   VALUES (:id, :email, :normalized_email, :name, :email_verified_at, :created_at)
   ON CONFLICT (normalized_email) DO NOTHING RETURNING *`,
).row;

export const findAccount = statement<[accountId: AccountId], AccountRow>(
  'accounts.find',
  'SELECT * FROM accounts WHERE id = $1',
).row;
const findByEmail = statement<[string], AccountRow>(
  'accounts.find-by-email',
  'SELECT * FROM accounts WHERE normalized_email = $1',
);

/**
 * Locks an account for a change of its credentials or memberships: after a team's rows, and before the account's
 * sessions and passkeys (docs/internals/locks.md).
 */
export const lockAccount = transactionStatement<[accountId: AccountId], AccountRow>(
  'accounts.lock',
  'SELECT * FROM accounts WHERE id = $1 FOR NO KEY UPDATE',
).row;

/**
 * Locks an account FOR SHARE during a sign-in. So each change of credentials, which calls `lockAccount`, waits for the
 * sign-in.
 */
export const lockAccountForShare = transactionStatement<[accountId: AccountId], AccountRow>(
  'accounts.lock-for-share',
  'SELECT * FROM accounts WHERE id = $1 FOR SHARE',
).row;

// The statement returns the ids of the account's teams, because their member lists show the account's name.
export const setAccountName = query<
  { accountId: AccountId; name: string },
  AccountRow & { readonly team_ids: TeamId[] }
>(
  'accounts.rename',
  `UPDATE accounts SET name = :name WHERE id = :accountId
   RETURNING *, ARRAY(SELECT team_id FROM members WHERE account_id = :accountId AND removed_at IS NULL) AS team_ids`,
  { changes: 'member', team: 'team_ids' },
).row;

/** Stores the hash of an account's password. @param hash argon2id in the PHC form */
export const setPasswordHash = statement<[accountId: AccountId, hash: string]>(
  'accounts.set-password',
  'UPDATE accounts SET password_hash = $2 WHERE id = $1 RETURNING *',
).run;

/** Records that the account's address is verified. The caller has locked the account. */
export const setEmailVerified = transactionStatement<[accountId: AccountId, at: Date]>(
  'accounts.set-email-verified',
  'UPDATE accounts SET email_verified_at = $2 WHERE id = $1 AND email_verified_at IS NULL RETURNING *',
).run;

/** Revokes all device cookies of the account. The caller has locked the account. */
export const revokeDeviceCookies = transactionStatement<[accountId: AccountId, now: Date]>(
  'accounts.revoke-device-cookies',
  'UPDATE accounts SET device_cookies_valid_from = $2 WHERE id = $1',
).run;

/** Removes the account's password. The caller has locked the account. */
export const removePasswordHash = transactionStatement<[accountId: AccountId]>(
  'accounts.remove-password',
  'UPDATE accounts SET password_hash = NULL WHERE id = $1',
).run;

export function findAccountByEmail(db: Queryable, email: string): Promise<AccountRow | undefined> {
  return findByEmail.row(db, normalizeEmail(email));
}
