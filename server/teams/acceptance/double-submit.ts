import { lockAccountForShare } from '#server/accounts/account/account-store.ts';
import { type ClientInfo, createAccountSession } from '#server/accounts/sessions/create-session.ts';
import { listSessions } from '#server/accounts/sessions/session-store.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { SignedIn } from '#server/platform/http/route.ts';
import { type AcceptanceRow, findAcceptance } from '#server/teams/invitations/invitation-store.ts';
import { doubleSubmitMs } from '#server/teams/limits.ts';
import { findMembership } from '#server/teams/members/member-store.ts';
import { hashFormToken } from './form-token-hash.ts';

type Services = Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'>;

interface Submission {
  readonly token: string;
  /** The form's own token; '' without one. */
  readonly formToken: string;
  readonly signedIn: SignedIn | undefined;
  readonly request: ClientInfo;
}

/**
 * Double submit: signs a person in who pressed Join twice, because a browser shows the answer to the second submit only
 * (specification section 12.4). Each form has a token of its own, and the acceptance keeps its hash. Another holder of
 * the link has another form, and is refused.
 * @returns the set-cookie headers, none for a signed-in caller; undefined for another form, after a minute, or once the
 *   session or the membership of the first submit has ended
 */
export async function resolveDoubleSubmit(
  services: Services,
  submission: Submission,
): Promise<string[] | undefined> {
  const { token, formToken, signedIn, request } = submission;
  if (formToken === '') return undefined;
  return services.database.transaction(async (trx) => {
    const first = await findAcceptance(
      trx,
      sha256(token),
      new Date(services.clock.expiryNow().getTime() - doubleSubmitMs),
    );
    const account = first && (await lockAccountForShare(trx, first.accepted_by));
    if (!account || !first.form_token_hash.equals(hashFormToken(formToken, account))) return undefined;
    if (!(await findMembership(trx, first.team_id, account.id))) return undefined;
    if (signedIn?.accountId === account.id) return [];
    if (!(await hasLiveSession(trx, services, first))) return undefined;
    return createAccountSession(trx, services, account, 'invitation', request);
  });
}

/**
 * Whether a session that the first submit created is live. Otherwise a second submit would sign in a person
 * whose sessions were ended.
 */
async function hasLiveSession(
  trx: Transaction,
  { clock }: Services,
  { accepted_by, accepted_at }: AcceptanceRow,
): Promise<boolean> {
  const sessions = await listSessions(trx, accepted_by, clock.expiryNow());
  return sessions.some(({ method, created_at }) => method === 'invitation' && created_at >= accepted_at);
}
