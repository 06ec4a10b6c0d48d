import type { AccountRow } from '#server/accounts/account/account-store.ts';
import { sha256 } from '#server/platform/crypto.ts';

/**
 * Hash of a form's token and the account's password hash, stored with the accepted invitation. After a change of the
 * password, a second submit no longer matches the hash.
 */
export function hashFormToken(
  formToken: string,
  { password_hash }: Pick<AccountRow, 'password_hash'>,
): Buffer {
  return sha256(`${formToken} ${password_hash ?? ''}`);
}
