import { type Queryable, statement, transactionStatement } from '#server/database/statement.ts';
import type { AccountId, PasskeyId } from '#server/platform/ids/ids.ts';

export interface PasskeyRow {
  readonly id: PasskeyId;
  readonly account_id: AccountId;
  readonly credential_id: Buffer;
  /** The public key in COSE encoding. */
  readonly public_key: Buffer;
  /** The signature counter of the passkey at its last use; always 0 for passkeys that do not count. */
  readonly counter: number;
  readonly transports: string[];
  readonly name: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

const insert = statement<[PasskeyId, AccountId, Buffer, Buffer, number, string[], string, Date], PasskeyRow>(
  'passkeys.insert',
  `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, name, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (credential_id) DO NOTHING RETURNING *`,
);

export const findPasskeyByCredential = statement<[credentialId: Buffer], PasskeyRow>(
  'passkeys.find-by-credential',
  'SELECT * FROM passkeys WHERE credential_id = $1',
).row;

export const listPasskeys = statement<[accountId: AccountId], PasskeyRow>(
  'passkeys.list',
  'SELECT * FROM passkeys WHERE account_id = $1 ORDER BY id',
).rows;

/**
 * Records a use of a passkey. The signature counter must have grown, unless it is always 0: an equal or lower one
 * reveals a copy of the passkey.
 * @returns false where the counter did not grow, or the passkey was removed meanwhile
 */
export const recordPasskeyUse = statement<[passkeyId: PasskeyId, counter: number, at: Date]>(
  'passkeys.record-use',
  `UPDATE passkeys SET counter = $2, last_used_at = $3
   WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0)) RETURNING id`,
).hasRow;

/** Renames a passkey. @returns undefined if the account has no such passkey */
export const setPasskeyName = statement<
  [accountId: AccountId, passkeyId: PasskeyId, name: string],
  PasskeyRow
>('passkeys.rename', 'UPDATE passkeys SET name = $3 WHERE account_id = $1 AND id = $2 RETURNING *').row;

/** Deletes a passkey. @returns the deleted row; undefined if the account has no such passkey */
export const deletePasskey = statement<[accountId: AccountId, passkeyId: PasskeyId], PasskeyRow>(
  'passkeys.remove',
  'DELETE FROM passkeys WHERE account_id = $1 AND id = $2 RETURNING *',
).row;

/** Deletes all passkeys of an account that the caller has locked. @returns the number of deleted passkeys */
export const deletePasskeys = transactionStatement<[accountId: AccountId]>(
  'passkeys.delete-all',
  `DELETE FROM passkeys WHERE id IN (SELECT id FROM passkeys WHERE account_id = $1 ORDER BY id FOR UPDATE)
   RETURNING id`,
).count;

/** Inserts a passkey. @returns undefined if the passkey is registered already, for any account */
export function insertPasskey(
  db: Queryable,
  passkey: Omit<PasskeyRow, 'last_used_at'>,
): Promise<PasskeyRow | undefined> {
  return insert.row(
    db,
    passkey.id,
    passkey.account_id,
    passkey.credential_id,
    passkey.public_key,
    passkey.counter,
    passkey.transports,
    passkey.name,
    passkey.created_at,
  );
}
