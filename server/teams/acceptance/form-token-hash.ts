import type { AccountRow } from '#server/accounts/account/account-store.ts';
import { sha256 } from '#server/platform/crypto.ts';

/**
 * Hash that is stored with an accepted invitation: of the form's token and the account's password hash. After a change
 * of the password, a second submit of the form does not match it.
 */
export function hashFormToken(
  formToken: string,
  { password_hash }: Pick<AccountRow, 'password_hash'>,
): Buffer {
  return sha256(`${formToken} ${password_hash ?? ''}`);
}
