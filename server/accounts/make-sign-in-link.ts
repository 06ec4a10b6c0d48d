import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { randomToken, sha256 } from '#server/platform/crypto.ts';
import type { AccountRow } from './account-store.ts';
import { insertSignInLink } from './sign-in-link-store.ts';

/** A link that signs an account in, once (specification section 12.2). @returns `{app_url}/link/<token>` */
export async function makeSignInLink(
  trx: Transaction,
  { ids, clock, config }: Pick<Runtime, 'ids' | 'clock' | 'config'>,
  account: Pick<AccountRow, 'id'>,
  { hours }: { readonly hours: number },
): Promise<string> {
  const token = randomToken();
  const link = {
    id: ids.next('alk'),
    account_id: account.id,
    created_at: clock.now(),
    expires_at: clock.in(hours * 3_600_000),
  };
  await insertSignInLink(trx, link, sha256(token));
  return `${config.appUrl}/link/${token}`;
}
