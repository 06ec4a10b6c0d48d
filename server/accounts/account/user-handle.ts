import type { AccountId } from '#server/platform/ids/ids.ts';

/** The account as a passkey names it: the 16 bytes of its id, which say nothing about a person. */
export function userHandle(accountId: AccountId): Buffer<ArrayBuffer> {
  return Buffer.from(accountId.replaceAll('-', ''), 'hex');
}
