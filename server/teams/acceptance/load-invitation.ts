import type { Runtime } from '#server/database/runtime.ts';
import type { SignedIn } from '#server/http/route.ts';
import { sha256 } from '#server/platform/crypto.ts';
import {
  findEndedInvitation,
  findLiveInvitationByToken,
  type LoadedInvitationRow,
} from '#server/teams/invitations/invitation-store.ts';

/** The step that remains for the person who opens an invitation. */
type InvitationNeeds = 'nothing' | 'sign_in' | 'proof' | 'name' | 'email_and_name';

/**
 * Determines the requirements for a person who opens an invitation. If the invited address
 * has an account, its owner must be signed in; otherwise joining creates an account. A link that an API answer showed
 * verifies no address. An account with an unverified address cannot join by such a link, because another person may
 * have created the account (section 12.1).
 */
function determineInvitationNeeds(
  invitation: LoadedInvitationRow,
  signedIn: SignedIn | undefined,
): InvitationNeeds {
  if (invitation.email === null) return signedIn ? 'nothing' : 'email_and_name';
  if (invitation.account_id === null) return 'name';
  if (invitation.account_id !== signedIn?.accountId) return 'sign_in';
  return invitation.verifies_email || invitation.account_verified ? 'nothing' : 'proof';
}

/** A live invitation, with the requirements that the caller still has to meet. */
export interface LoadedInvitation {
  readonly invitation: LoadedInvitationRow;
  readonly needs: InvitationNeeds;
  readonly signedIn: SignedIn | undefined;
}

/**
 * Loads a live invitation by its token. Loading changes nothing, so that a mail scanner that opens the link accepts
 * nothing. @returns undefined for an ended or unknown invitation
 */
export async function loadInvitation(
  { database, clock }: Runtime,
  token: string,
  signedIn: SignedIn | undefined,
): Promise<LoadedInvitation | undefined> {
  const invitation = await findLiveInvitationByToken(database.pool, {
    tokenHash: sha256(token),
    now: clock.expiryNow(),
  });
  if (!invitation) return undefined;
  return { invitation, needs: determineInvitationNeeds(invitation, signedIn), signedIn };
}

/** How an invitation ended; `unknown` for an unknown token. */
export type InvitationEnd = 'used' | 'replaced' | 'revoked' | 'expired' | 'unknown';

/**
 * Finds how an invitation ended. The caller knows the invitation's secret token, so the answer may reveal the reason.
 */
export async function findInvitationEnd({ database, clock }: Runtime, token: string): Promise<InvitationEnd> {
  const now = clock.expiryNow();
  const ended = await findEndedInvitation(database.pool, { tokenHash: sha256(token), now });
  if (!ended) return 'unknown';
  if (ended.accepted_at) return 'used';
  if (ended.is_replaced) return 'replaced';
  if (ended.revoked_at) return 'revoked';
  return ended.expires_at <= now ? 'expired' : 'unknown';
}

export const invitationEnds: Readonly<
  Record<InvitationEnd, { readonly what: string; readonly next: string }>
> = {
  used: {
    what: 'This invitation was used',
    next: 'You have joined already? Sign in. Otherwise ask an owner or an admin of the team for a new one.',
  },
  replaced: {
    what: 'A newer invitation has replaced this one',
    next: 'Open the newest link that you were sent. You have joined already? Sign in.',
  },
  revoked: {
    what: 'This invitation was revoked',
    next: 'Ask an owner or an admin of the team for a new one.',
  },
  expired: {
    what: 'This invitation is older than 7 days',
    next: 'Ask an owner or an admin of the team to send it again.',
  },
  unknown: {
    what: 'There is no such invitation',
    next: 'Check that the whole link was copied. Otherwise ask an owner or an admin of the team, or the operator of this server, for a new one.',
  },
};
