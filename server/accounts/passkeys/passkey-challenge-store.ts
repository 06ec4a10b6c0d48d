import { type Queryable, statement } from '#server/database/statement.ts';
import type { AccountId } from '#server/platform/ids/ids.ts';

const insert = statement<[Buffer, AccountId | null, Date]>(
  'passkey-challenges.insert',
  'INSERT INTO passkey_challenges (challenge_hash, account_id, expires_at) VALUES ($1, $2, $3)',
);
const consume = statement<[Buffer, AccountId | null], { expires_at: Date }>(
  'passkey-challenges.consume',
  `DELETE FROM passkey_challenges WHERE challenge_hash = $1 AND account_id IS NOT DISTINCT FROM $2::uuid
   RETURNING expires_at`,
);

/** Stores a challenge. @param accountId the account that adds a passkey; undefined for a sign-in */
export async function insertChallenge(
  db: Queryable,
  challengeHash: Buffer,
  accountId: AccountId | undefined,
  expiresAt: Date,
): Promise<void> {
  await insert.run(db, challengeHash, accountId ?? null, expiresAt);
}

/** Deletes a challenge, even for an invalid answer. @returns false for a used, expired or unknown challenge */
export async function consumeChallenge(
  db: Queryable,
  challengeHash: Buffer,
  accountId: AccountId | undefined,
  now: Date,
): Promise<boolean> {
  const row = await consume.row(db, challengeHash, accountId ?? null);
  return row !== undefined && row.expires_at > now;
}
