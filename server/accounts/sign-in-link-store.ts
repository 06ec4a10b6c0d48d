import { statement, type Transaction } from '#server/database/statement.ts';
import type { AccountId, Id } from '#server/platform/ids.ts';

interface SignInLinkRow {
  readonly id: Id<'alk'>;
  readonly account_id: AccountId;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const insert = statement<SignInLinkRow>(
  'sign-in-links.insert',
  'INSERT INTO sign_in_links (id, account_id, token_hash, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)',
);

export async function insertSignInLink(
  trx: Transaction,
  link: SignInLinkRow,
  tokenHash: Buffer,
): Promise<void> {
  await insert.row(trx, link.id, link.account_id, tokenHash, link.created_at, link.expires_at);
}
