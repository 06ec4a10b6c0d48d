import { query, transactionQuery } from '#server/database/query.ts';
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

/** Inserts a passkey. @returns undefined if the passkey is registered already, for any account */
export const insertPasskey = query<Omit<PasskeyRow, 'last_used_at'>, PasskeyRow>(
  'passkeys.insert',
  `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, name, created_at)
   VALUES (:id, :account_id, :credential_id, :public_key, :counter, :transports, :name, :created_at)
   ON CONFLICT (credential_id) DO NOTHING RETURNING *`,
).row;

export const findPasskeyByCredential = query<{ credentialId: Buffer }, PasskeyRow>(
  'passkeys.find-by-credential',
  'SELECT * FROM passkeys WHERE credential_id = :credentialId',
).row;

export const listPasskeys = query<{ accountId: AccountId }, PasskeyRow>(
  'passkeys.list',
  'SELECT * FROM passkeys WHERE account_id = :accountId ORDER BY id',
).rows;

/**
 * Records a use of a passkey. The signature counter must have grown, unless it is always 0: an equal or lower one
 * reveals a copy of the passkey.
 * @returns false where the counter did not grow, or the passkey was removed meanwhile
 */
export const recordPasskeyUse = query<{ passkeyId: PasskeyId; counter: number; at: Date }>(
  'passkeys.record-use',
  `UPDATE passkeys SET counter = :counter, last_used_at = :at
   WHERE id = :passkeyId AND (counter < :counter OR (counter = 0 AND :counter = 0)) RETURNING id`,
).hasRow;

/** A passkey of an account. */
export interface PasskeyIds {
  readonly accountId: AccountId;
  readonly passkeyId: PasskeyId;
}

/** Renames a passkey. @returns undefined if the account has no such passkey */
export const setPasskeyName = query<PasskeyIds & { name: string }, PasskeyRow>(
  'passkeys.rename',
  'UPDATE passkeys SET name = :name WHERE account_id = :accountId AND id = :passkeyId RETURNING *',
).row;

/** Deletes a passkey. @returns the deleted row; undefined if the account has no such passkey */
export const deletePasskey = query<PasskeyIds, PasskeyRow>(
  'passkeys.remove',
  'DELETE FROM passkeys WHERE account_id = :accountId AND id = :passkeyId RETURNING *',
).row;

/** Deletes all passkeys of an account that the caller has locked. @returns the number of deleted passkeys */
export const deletePasskeys = transactionQuery<{ accountId: AccountId }>(
  'passkeys.delete-all',
  `DELETE FROM passkeys WHERE id IN (SELECT id FROM passkeys WHERE account_id = :accountId ORDER BY id FOR UPDATE)
   RETURNING id`,
).count;

interface Challenge {
  readonly challengeHash: Buffer;
  /** The account that adds a passkey; null for a sign-in. */
  readonly accountId: AccountId | null;
}

export const insertChallenge = query<Challenge & { expiresAt: Date }>(
  'passkey-challenges.insert',
  `INSERT INTO passkey_challenges (challenge_hash, account_id, expires_at) VALUES (:challengeHash, :accountId, :expiresAt)`,
).run;

/** Deletes a challenge, even for an invalid answer. @returns false for a used, expired or unknown challenge */
export const consumeChallenge = query<Challenge & { now: Date }>(
  'passkey-challenges.consume',
  `WITH consumed AS (
     DELETE FROM passkey_challenges
     WHERE challenge_hash = :challengeHash AND account_id IS NOT DISTINCT FROM :accountId::uuid RETURNING expires_at
   )
   SELECT FROM consumed WHERE expires_at > :now`,
).hasRow;
