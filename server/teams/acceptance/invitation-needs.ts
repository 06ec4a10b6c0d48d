import type { AccountId } from '#server/platform/ids/ids.ts';

/** The step that remains for the person who opens an invitation (specification section 12.4). */
export type InvitationNeeds = 'nothing' | 'sign_in' | 'proof' | 'name' | 'email_and_name';

interface Opening {
  /** The address of the invitation; null for an owner link without an address. */
  readonly email: string | null;
  /** The account with the invited address; null if there is none. */
  readonly accountId: AccountId | null;
  /** The signed-in account; undefined without a session. */
  readonly signedInId: AccountId | undefined;
  /** Whether the address of `accountId` is verified, by this link or earlier. */
  readonly isEmailVerified: boolean;
}

/**
 * Determines the requirements for a person who opens an invitation (specification section 12.4). If the invited address
 * has an account, its owner must be signed in; otherwise joining creates an account. A link that an API answer showed
 * verifies no address. An account with an unverified address cannot join by such a link, because another person may
 * have created the account (section 12.1).
 */
export function determineInvitationNeeds({
  email,
  accountId,
  signedInId,
  isEmailVerified,
}: Opening): InvitationNeeds {
  if (email === null) return signedInId === undefined ? 'email_and_name' : 'nothing';
  if (accountId === null) return 'name';
  if (accountId !== signedInId) return 'sign_in';
  return isEmailVerified ? 'nothing' : 'proof';
}
