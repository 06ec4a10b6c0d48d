import type { AccountRow } from '#server/accounts/account/account-store.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { AccountId, Id } from '#server/platform/ids/ids.ts';

export const insertMagicLink = transactionQuery<{
  id: Id<'alk'>;
  accountId: AccountId;
  tokenHash: Buffer;
  createdAt: Date;
  expiresAt: Date;
}>(
  'magic-links.insert',
  `INSERT INTO magic_links (id, account_id, token_hash, created_at, expires_at)
   VALUES (:id, :accountId, :tokenHash, :createdAt, :expiresAt)`,
).run;

/** Finds the account that a magic link signs in; undefined if the link is used, expired or unknown. */
export const findMagicLinkAccount = query<{ tokenHash: Buffer; now: Date }, AccountRow>(
  'magic-links.find-open',
  `SELECT a.* FROM magic_links l JOIN accounts a ON a.id = l.account_id
   WHERE l.token_hash = :tokenHash AND l.used_at IS NULL AND l.expires_at > :now`,
).row;

/** Marks a link as used. @returns false for a used, expired or unknown link */
export const consumeMagicLink = transactionQuery<{ tokenHash: Buffer; now: Date }>(
  'magic-links.consume',
  'UPDATE magic_links SET used_at = :now WHERE token_hash = :tokenHash AND used_at IS NULL AND expires_at > :now',
).hasRow;

/** Revokes the unused links of an account that the caller has locked. @returns the number of revoked links */
export const revokeMagicLinks = transactionQuery<{ accountId: AccountId }>(
  'magic-links.revoke-all',
  `DELETE FROM magic_links WHERE id IN (
     SELECT id FROM magic_links WHERE account_id = :accountId AND used_at IS NULL ORDER BY id FOR UPDATE)
   RETURNING id`,
).count;
