import { type Queryable, statement } from '#server/database/statement.ts';
import type { AccountId } from '#server/platform/ids.ts';

const insert = statement<Record<string, never>>(
  'passkey-challenges.insert',
  'INSERT INTO passkey_challenges (challenge_hash, account_id, expires_at) VALUES ($1, $2, $3)',
);
const take = statement<{ expires_at: Date }>(
  'passkey-challenges.take',
  `DELETE FROM passkey_challenges WHERE challenge_hash = $1 AND account_id IS NOT DISTINCT FROM $2::uuid
   RETURNING expires_at`,
);
const forget = statement<Record<string, never>>(
  'passkey-challenges.forget',
  'DELETE FROM passkey_challenges WHERE expires_at <= $1',
);

/** @param accountId of a passkey that is to be added; undefined for signing in */
export async function insertChallenge(
  db: Queryable,
  challengeHash: Buffer,
  accountId: AccountId | undefined,
  expiresAt: Date,
): Promise<void> {
  await insert.row(db, challengeHash, accountId ?? null, expiresAt);
}

/** Uses a challenge up, whatever then becomes of the answer to it. @returns false where it is none, used or over */
export async function takeChallenge(
  db: Queryable,
  challengeHash: Buffer,
  accountId: AccountId | undefined,
  now: Date,
): Promise<boolean> {
  const row = await take.row(db, challengeHash, accountId ?? null);
  return row !== undefined && row.expires_at > now;
}

export async function forgetExpiredChallenges(db: Queryable, now: Date): Promise<void> {
  await forget.row(db, now);
}
