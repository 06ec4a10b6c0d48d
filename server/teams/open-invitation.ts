import type { InvitationNeeds } from '#contract/member.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { SignedIn } from '#server/platform/http/route.ts';
import { invitationNeedsOf } from './invitation-needs.ts';
import { findLiveInvitationByToken, type OpenedInvitationRow } from './invitation-store.ts';

/** An invitation in the hands of whoever opened its link. */
export interface Opened {
  readonly invitation: OpenedInvitationRow;
  readonly needs: InvitationNeeds;
  readonly signedIn: SignedIn | undefined;
}

/** Looks at the invitation behind a link. Changes nothing, so that a scanner that follows links uses none up. @throws 404 */
export async function openInvitation(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  token: string,
  signedIn: SignedIn | undefined,
): Promise<Opened> {
  const invitation = await findLiveInvitationByToken(database.pool, sha256(token), clock.expiryNow());
  if (!invitation) throw invitationOver();
  const { email, account_id: accountId } = invitation;
  const isProven = invitation.proves_address || invitation.account_proven === true;
  const needs = invitationNeedsOf({ email, accountId, signedInId: signedIn?.accountId, isProven });
  return { invitation, needs, signedIn };
}

/** Used, revoked, sent again, too old, or never made: the same to whoever asks. */
export function invitationOver(): AppError {
  return new AppError(
    'not_found',
    'This invitation is over: it was used, revoked or sent again, or is older than 7 days. Ask whoever invited you for a new one.',
  );
}
