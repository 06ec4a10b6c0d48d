import type { InvitationNeeds } from '#contract/member.ts';
import type { AccountId } from '#server/platform/ids/ids.ts';

interface Opening {
  /** The address that the invitation is bound to; null for the link of a first owner. */
  readonly email: string | null;
  /** The account of that address; null where it has none. */
  readonly accountId: AccountId | null;
  /** Who is signed in. */
  readonly signedInId: AccountId | undefined;
  /** Whether the link, or something before it, proves that account's address. */
  readonly isEmailVerified: boolean;
}

/**
 * What somebody who opens an invitation has to bring (specification section 12.4): an account is joined by whoever is
 * signed in to it, and comes to life for an address that has none. A link that was shown proves no address, and lets no
 * account join whose own is not proven: somebody else may have made it (section 12.1).
 */
export function invitationRequirements({
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
