import { type Queryable, statement, type Transaction } from '#server/database/statement.ts';
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

const insert = statement<PasskeyRow>(
  'passkeys.insert',
  `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, name, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (credential_id) DO NOTHING RETURNING *`,
);
const findByCredential = statement<PasskeyRow>(
  'passkeys.find-by-credential',
  'SELECT * FROM passkeys WHERE credential_id = $1',
);
const list = statement<PasskeyRow>(
  'passkeys.list',
  'SELECT * FROM passkeys WHERE account_id = $1 ORDER BY id',
);
const recordUse = statement<{ id: PasskeyId }>(
  'passkeys.record-use',
  `UPDATE passkeys SET counter = $2, last_used_at = $3
   WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0)) RETURNING id`,
);
const rename = statement<PasskeyRow>(
  'passkeys.rename',
  'UPDATE passkeys SET name = $3 WHERE account_id = $1 AND id = $2 RETURNING *',
);
const remove = statement<PasskeyRow>(
  'passkeys.remove',
  'DELETE FROM passkeys WHERE account_id = $1 AND id = $2 RETURNING *',
);

const removeAll = statement<{ id: PasskeyId }>(
  'passkeys.delete-all',
  `DELETE FROM passkeys WHERE id IN (SELECT id FROM passkeys WHERE account_id = $1 ORDER BY id FOR UPDATE)
   RETURNING id`,
);

/** @returns undefined where the passkey is registered already, for any account */
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

export function findPasskeyByCredential(
  db: Queryable,
  credentialId: Buffer,
): Promise<PasskeyRow | undefined> {
  return findByCredential.row(db, credentialId);
}

export function listPasskeys(db: Queryable, accountId: AccountId): Promise<PasskeyRow[]> {
  return list.rows(db, accountId);
}

/**
 * Records a use of a passkey. A counter other than 0 must have grown: one that has not reveals a copy of the passkey.
 * @returns false where the counter did not grow, or the passkey was removed meanwhile
 */
export async function recordPasskeyUse(
  db: Queryable,
  passkeyId: PasskeyId,
  counter: number,
  at: Date,
): Promise<boolean> {
  return (await recordUse.row(db, passkeyId, counter, at)) !== undefined;
}

/** @returns undefined where the account has no such passkey */
export function setPasskeyName(
  db: Queryable,
  accountId: AccountId,
  passkeyId: PasskeyId,
  name: string,
): Promise<PasskeyRow | undefined> {
  return rename.row(db, accountId, passkeyId, name);
}

/** @returns the deleted row; undefined where the account has no such passkey */
export function deletePasskey(
  db: Queryable,
  accountId: AccountId,
  passkeyId: PasskeyId,
): Promise<PasskeyRow | undefined> {
  return remove.row(db, accountId, passkeyId);
}

/** Deletes all passkeys of an account that the caller has locked. @returns the number of deleted passkeys */
export async function deletePasskeys(trx: Transaction, accountId: AccountId): Promise<number> {
  return (await removeAll.rows(trx, accountId)).length;
}
