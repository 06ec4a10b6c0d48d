import type { AccountId } from '#server/platform/ids/ids.ts';

/** User handle of a passkey (WebAuthn): the 16 bytes of the account's id, which reveal nothing about the person. */
export function userHandle(accountId: AccountId): Buffer<ArrayBuffer> {
  return Buffer.from(accountId.replaceAll('-', ''), 'hex');
}
