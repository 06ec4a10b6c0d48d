import type { AccountRow } from '#server/accounts/account/account-store.ts';
import { statement, type Transaction, transactionStatement } from '#server/database/statement.ts';
import type { AccountId, Id } from '#server/platform/ids/ids.ts';

export interface MagicLinkRow {
  readonly id: Id<'alk'>;
  readonly account_id: AccountId;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly used_at: Date | null;
}

const insert = transactionStatement<[Id<'alk'>, AccountId, Buffer, Date, Date]>(
  'magic-links.insert',
  'INSERT INTO magic_links (id, account_id, token_hash, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)',
);

/** Finds the account that a magic link signs in; undefined if the link is used, expired or unknown. */
export const findMagicLinkAccount = statement<[tokenHash: Buffer, now: Date], AccountRow>(
  'magic-links.find-open',
  `SELECT a.* FROM magic_links l JOIN accounts a ON a.id = l.account_id
   WHERE l.token_hash = $1 AND l.used_at IS NULL AND l.expires_at > $2`,
).row;
const consume = transactionStatement<[Buffer, Date], { account_id: AccountId }>(
  'magic-links.consume',
  `UPDATE magic_links SET used_at = $2 WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2
   RETURNING account_id`,
);

/** Revokes the unused links of an account that the caller has locked. @returns the number of revoked links */
export const revokeMagicLinks = transactionStatement<[accountId: AccountId]>(
  'magic-links.revoke-all',
  `DELETE FROM magic_links WHERE id IN (
     SELECT id FROM magic_links WHERE account_id = $1 AND used_at IS NULL ORDER BY id FOR UPDATE)
   RETURNING id`,
).count;

export async function insertMagicLink(
  trx: Transaction,
  link: Omit<MagicLinkRow, 'used_at'> & { readonly tokenHash: Buffer },
): Promise<void> {
  await insert.run(trx, link.id, link.account_id, link.tokenHash, link.created_at, link.expires_at);
}

/** Marks a link as used. @returns the account that it signs in; undefined for a used, expired or unknown link */
export async function consumeMagicLink(
  trx: Transaction,
  tokenHash: Buffer,
  now: Date,
): Promise<AccountId | undefined> {
  return (await consume.row(trx, tokenHash, now))?.account_id;
}
