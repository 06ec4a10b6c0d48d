import type { InvitationNeeds } from '#contract/member.ts';
import type { AccountId } from '#server/platform/ids/ids.ts';

interface Opening {
  /** The address that the invitation is bound to; null for the link of a first owner. */
  readonly email: string | null;
  /** The account of that address; null where it has none. */
  readonly accountId: AccountId | null;
  /** The signed-in account; undefined without a session. */
  readonly signedInId: AccountId | undefined;
  /** Whether the link, or an earlier one, verifies that account's address. */
  readonly isEmailVerified: boolean;
}

/**
 * Requirements for the person who opens an invitation (specification section 12.4). An account joins by its own
 * session; an address without one gets a new account. A link that was shown proves no address. An account with an
 * unverified address cannot join by it: another person may have created the account (section 12.1).
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
