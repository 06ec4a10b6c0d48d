import { covers, type Grant, type RoleGrant } from '#contract/permissions.ts';
import { validateName } from '#server/accounts/account/account.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { forbidden, invalid } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { type MemberId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { getRoutingTag } from '#server/teams/team/team-store.ts';
import { newApiKey } from './api-key.ts';
import { type ApiKeyRow, insertApiKey } from './api-key-store.ts';

interface NewKey {
  readonly teamId: TeamId;
  readonly name: string;
  readonly permissions: readonly Grant[];
  /** The test team for which a test key acts, from `ensureTestTeam`; undefined for a live key. */
  readonly testTeamId?: TeamId;
  /** The creating member and the grants that keys of their role may hold (`keyGrants`); undefined for the operator. */
  readonly creator?: { readonly id: MemberId; readonly grants: readonly RoleGrant[] };
  readonly by: AuditActor;
}

/**
 * Creates an API key and returns its text, which is never shown again: only a hash is stored (specification section
 * 5.1).
 * @throws 400 with param, also for a test key with team:write; 403, param permissions, where keys of the creator's role may not hold them
 */
export async function createKey(
  trx: Transaction,
  services: Runtime,
  input: NewKey,
): Promise<{ readonly row: ApiKeyRow; readonly key: string }> {
  validateName(input.name);
  if (input.permissions.length === 0)
    throw invalid('permissions', 'permissions must name at least one permission, or *.');
  const isTest = input.testTeamId !== undefined;
  if (isTest && input.permissions.includes('team:write')) {
    throw invalid(
      'permissions',
      'A test key can’t change the team. Leave out team:write; * includes the rest.',
    );
  }
  forbidEscalation(input);
  const key = newApiKey(await getRoutingTag(trx, input.teamId), isTest ? 'test' : 'live');
  const row: ApiKeyRow = {
    team_id: input.teamId,
    id: services.ids.next('key'),
    name: input.name,
    permissions: [...new Set(input.permissions)],
    created_by: input.creator?.id ?? null,
    created_at: services.clock.now(),
    last_used_at: null,
    revoked_at: null,
    test_team_id: input.testTeamId ?? null,
  };
  await insertApiKey(trx, { ...row, hash: sha256(key) });
  await recordAudit(trx, services, {
    by: input.by,
    action: 'key.created',
    teamId: input.teamId,
    target: publicId('key', row.id),
    details: { name: row.name, permissions: row.permissions, ...(isTest ? { test: true } : {}) },
  });
  return { row, key };
}

function forbidEscalation({ creator, permissions }: NewKey): void {
  const excess = creator && permissions.filter((grant) => !covers(creator.grants, [grant]));
  if (!excess || excess.length === 0) return;
  const ofOwners = excess.filter((grant) => grant === 'team:write' || grant === '*');
  throw forbidden(
    ofOwners.length > 0
      ? `Only owners create keys with ${ofOwners.join(' or ')}: such a key invites people and changes roles, so it is worth an admin. Leave out ${excess.join(', ')}, or ask an owner to create the key.`
      : `A key can’t have permissions that its creator lacks: your role does not include ${excess.join(', ')}. Leave them out, or ask an owner to create the key.`,
    'permissions',
  );
}
