import { type AccountRow, lockAccountForShare } from '#server/accounts/account/account-store.ts';
import { type ClientInfo, createAccountSession } from '#server/accounts/sessions/create-session.ts';
import { listSessions } from '#server/accounts/sessions/session-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { SignedIn } from '#server/platform/http/route.ts';
import { type AcceptanceRow, findAcceptance } from '#server/teams/invitations/invitation-store.ts';
import { doubleSubmitMs } from '#server/teams/limits.ts';
import { findMembership } from '#server/teams/members/member-store.ts';

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

interface Submission {
  readonly token: string;
  /** The hidden token of the form; '' without one. */
  readonly formToken: string;
  readonly signedIn: SignedIn | undefined;
  readonly request: ClientInfo;
}

/**
 * Double submit: signs in a person who pressed Join twice, because a browser shows only the answer to the second submit
 * (specification section 12.4). Each form has a random token, and the accepted invitation stores the token's hash.
 * Another person with the same link has another form, and is refused.
 * @returns set-cookie headers, empty for a signed-in caller; undefined for another form, after a minute, or once the
 * session or membership of the first submit has ended
 */
export async function resolveDoubleSubmit(
  services: Runtime,
  submission: Submission,
): Promise<string[] | undefined> {
  const { token, formToken, signedIn, request } = submission;
  if (formToken === '') return undefined;
  return services.database.transaction(async (trx) => {
    const since = new Date(services.clock.expiryNow().getTime() - doubleSubmitMs);
    const first = await findAcceptance(trx, { tokenHash: sha256(token), since });
    const account = first && (await lockAccountForShare(trx, first.accepted_by));
    if (!account || !first.form_token_hash.equals(hashFormToken(formToken, account))) return undefined;
    if (!(await findMembership(trx, first.team_id, account.id))) return undefined;
    if (signedIn?.accountId === account.id) return [];
    if (!(await hasLiveSession(trx, services, first))) return undefined;
    return createAccountSession(trx, services, account, 'invitation', request);
  });
}

/**
 * Whether a session that the first submit created is live: a second submit must not sign in once the sessions have
 * ended.
 */
async function hasLiveSession(
  trx: Transaction,
  { clock }: Runtime,
  { accepted_by, accepted_at }: AcceptanceRow,
): Promise<boolean> {
  const sessions = await listSessions(trx, { accountId: accepted_by, now: clock.expiryNow() });
  return sessions.some(({ method, created_at }) => method === 'invitation' && created_at >= accepted_at);
}
