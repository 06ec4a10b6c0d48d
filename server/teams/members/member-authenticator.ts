import { roleGrants } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import { csrfRefusal, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Authenticator, Principal } from '#server/http/route.ts';
import { notFound } from '#server/platform/app-error.ts';
import { parseId, publicId, type TeamId } from '#server/platform/ids.ts';
import { findMembership, roleRefusal } from './members.ts';

interface Options {
  readonly requireSession: RequireSession;
  /** Counts a request against the rate limit of the team's members. @throws 429 */
  readonly limit: (teamId: TeamId, plan: PlanName) => void;
}

/**
 * Authenticator of the audience `team`, by the session and the team in the path (specification section 12.3). Role and
 * membership are read for each request, so a change takes effect with the next request, on every process.
 */
export function createMemberAuthenticator(
  { requireSession, limit }: Options,
  { database, config }: Runtime,
): Authenticator {
  return async (request, _reply, { permission }, isAgain = false) => {
    const signedIn = await requireSession(request, isAgain);
    const foreign = csrfRefusal(request, config.appUrl);
    const { team_id: publicTeamId = '' } = request.params as Readonly<Record<string, string>>;
    const teamId = parseId('team', publicTeamId);
    const membership =
      teamId && (await findMembership(database.pool, { teamId, accountId: signedIn.accountId }));
    if (!membership) {
      if (foreign) return { signedIn, refusal: foreign };
      throw notFound('team');
    }
    if (!isAgain) limit(membership.team_id, membership.plan);
    const principal: Principal = {
      teamId: membership.team_id,
      id: membership.member_id,
      actor: { kind: 'member', id: publicId('usr', membership.member_id), name: signedIn.actor.name },
      permissions: roleGrants[membership.role],
      plan: membership.plan,
    };
    const refusal = foreign ?? (permission && roleRefusal(membership.role, permission));
    return { signedIn, principal, ...(refusal ? { refusal } : {}) };
  };
}
