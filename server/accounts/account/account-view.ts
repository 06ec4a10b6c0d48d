import type { Account } from '#contract/account.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { AccountRow } from './account-store.ts';

export function accountView(account: AccountRow): Account {
  return {
    id: publicId('acc', account.id),
    email: account.email,
    name: account.name,
    has_password: account.password_hash !== null,
  };
}
