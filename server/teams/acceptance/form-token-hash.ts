import type { AccountRow } from '#server/accounts/account/account-store.ts';
import { sha256 } from '#server/platform/crypto.ts';

/**
 * What is kept of the form that accepted an invitation: its token together with the account's password as it was, so that
 * nobody presses again once another one was set.
 */
export function hashFormToken(
  formToken: string,
  { password_hash }: Pick<AccountRow, 'password_hash'>,
): Buffer {
  return sha256(`${formToken} ${password_hash ?? ''}`);
}
