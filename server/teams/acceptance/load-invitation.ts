import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable } from '#server/database/statement.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { SignedIn } from '#server/platform/http/route.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import {
  findEndedInvitation,
  findLiveInvitationByToken,
  type LoadedInvitationRow,
} from '#server/teams/invitations/invitation-store.ts';
import { determineInvitationNeeds, type InvitationNeeds } from './invitation-needs.ts';

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
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  token: string,
  signedIn: SignedIn | undefined,
): Promise<LoadedInvitation | undefined> {
  const invitation = await findLiveInvitationByToken(database.pool, sha256(token), clock.expiryNow());
  if (!invitation) return undefined;
  const { email, account_id: accountId } = invitation;
  const isEmailVerified = invitation.verifies_email || invitation.account_verified === true;
  const needs = determineInvitationNeeds({
    email,
    accountId,
    signedInId: signedIn?.accountId,
    isEmailVerified,
  });
  return { invitation, needs, signedIn };
}

/** How an invitation ended; `unknown` for an unknown token. */
export type InvitationEnd = 'used' | 'replaced' | 'revoked' | 'expired' | 'unknown';

/**
 * Finds how an invitation ended. The caller knows the invitation's secret token, so the answer may reveal the reason.
 */
export async function findInvitationEnd(db: Queryable, clock: Clock, token: string): Promise<InvitationEnd> {
  const now = clock.expiryNow();
  const ended = await findEndedInvitation(db, sha256(token), now);
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
