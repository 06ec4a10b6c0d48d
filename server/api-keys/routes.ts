import { ApiKeyList, CreateKeyRequest, MadeApiKey } from '#contract/api-key.ts';
import { Deleted } from '#contract/deleted.ts';
import { keyGrants } from '#contract/permissions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Principal, type Route, route } from '#server/http/route.ts';
import { notFound } from '#server/platform/app-error.ts';
import { parseId } from '#server/platform/ids.ts';
import { lockMember, type MemberIds } from '#server/teams/members/members.ts';
import { ensureTestTeam } from '#server/teams/team/team.ts';
import { createKey, keyView, listLiveKeys } from './api-keys.ts';
import { revokeKey } from './revoke-keys.ts';

/** Routes of API keys, for people only: an API key creates no keys (specification sections 5.1 and 5.3). */
export function apiKeyRoutes(services: Runtime): Route[] {
  const { database } = services;
  return [
    route('GET /app/teams/:team_id/keys', {
      audience: 'team',
      permission: 'keys:manage',
      answers: { 200: ApiKeyList },
      handle: async ({ principal }) => {
        const keys = await listLiveKeys(database.pool, principal);
        return { body: { keys: keys.map(keyView) } };
      },
    }),
    route('POST /app/teams/:team_id/keys', {
      audience: 'team',
      permission: 'keys:manage',
      audit: 'key.created',
      body: CreateKeyRequest,
      answers: { 201: MadeApiKey },
      handle: async ({ principal, body: { test, answers_for_team: answersForTeam, ...body }, by }) => {
        const made = await database.transaction(async (trx) => {
          // The team is locked before its member, as by every change of members.
          const testTeam = test ? { testTeamId: await ensureTestTeam(trx, services, principal.teamId) } : {};
          // The lock makes a concurrent change of the role wait, so that a member who loses the role can't create a
          // last key.
          const member = await lockMember(trx, memberOf(principal));
          if (!member) throw notFound('team');
          const creator = { id: member.id, grants: keyGrants(member.role) };
          return createKey(trx, services, {
            ...body,
            ...testTeam,
            answersForTeam,
            teamId: principal.teamId,
            creator,
            by,
          });
        });
        return { status: 201, body: { ...keyView(made.row), key: made.key } };
      },
    }),
    route('DELETE /app/teams/:team_id/keys/:id', {
      ids: { id: 'key' },
      audience: 'team',
      permission: 'keys:manage',
      audit: 'key.revoked',
      answers: { 200: Deleted },
      handle: async ({ principal, ids: { id: keyId }, by }) => {
        await revokeKey(services, { keyId, member: memberOf(principal), by });
        return { body: { deleted: true } };
      },
    }),
  ];
}

function memberOf({ teamId, actor }: Principal): MemberIds {
  const memberId = actor.kind === 'member' ? parseId('usr', actor.id) : undefined;
  if (!memberId) throw new Error('this route needs a member, and another caller passed its authenticator');
  return { teamId, memberId };
}
