import type { ApiKey } from '#contract/api-key.ts';
import { covers, type Grant, type RoleGrant } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import { validateName } from '#server/accounts/account/account.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { forbidden, invalid } from '#server/platform/app-error.ts';
import { checksum, randomBase62, sha256 } from '#server/platform/crypto.ts';
import { type KeyId, type MemberId, publicId, type TeamId } from '#server/platform/ids.ts';
import type { MemberIds } from '#server/teams/members/members.ts';
import { getRoutingTag } from '#server/teams/team/team.ts';

const shape = /^own_(?:live|test)_([a-z0-9]{4}[0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/**
 * Generates an API key (specification section 5.1): prefix, routing tag, 32 random base62 characters and a checksum of 6.
 * The checksum covers tag and random characters.
 */
export function newApiKey(routingTag: string, mode: 'live' | 'test' = 'live'): string {
  const body = `${routingTag}${randomBase62(32)}`;
  return `own_${mode}_${body}${checksum(body)}`;
}

/** Whether a text has the form and checksum of an API key. Any other text is refused without a query. */
export function isWellFormedKey(text: string): boolean {
  const parts = shape.exec(text);
  return parts?.[1] !== undefined && checksum(parts[1]) === parts[2];
}

export interface ApiKeyRow {
  readonly team_id: TeamId;
  readonly id: KeyId;
  readonly name: string;
  readonly permissions: Grant[];
  readonly created_by: MemberId | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
  /** Whether a send of the key answers its conversation for the team. */
  readonly answers_for_team: boolean;
  /** The test team for which a test key acts; null for a live key. */
  readonly test_team_id: TeamId | null;
}

/** A valid key, with the plan of the team for which it acts. */
export interface LiveKeyRow extends ApiKeyRow {
  readonly hash: Buffer;
  readonly plan: PlanName;
}

const columns =
  'team_id, id, name, permissions, created_by, created_at, last_used_at, revoked_at, answers_for_team, test_team_id';

/** SQL condition: the person of a membership created the key, in this or an earlier membership of the team. */
const sqlIsCreatedBy = `created_by IN (
  SELECT m.id FROM members m JOIN members own ON own.account_id = m.account_id AND own.team_id = m.team_id
  WHERE own.team_id = :teamId AND own.id = :memberId)`;

const insertApiKey = query<Omit<ApiKeyRow, 'revoked_at'> & { hash: Buffer }>(
  'api-keys.insert',
  `INSERT INTO api_keys (team_id, id, name, permissions, created_by, hash, created_at, answers_for_team, test_team_id)
   VALUES (:team_id, :id, :name, :permissions, :created_by, :hash, :created_at, :answers_for_team, :test_team_id)`,
  { changes: 'key', team: ':team_id', ids: ':id' },
).run;

export const findLiveKeys = query<{ hashes: readonly Buffer[] }, LiveKeyRow>(
  'api-keys.find-live',
  `SELECT ${columns
    .split(', ')
    .map((column) => `k.${column}`)
    .join(', ')}, k.hash, t.plan
   FROM api_keys k JOIN teams t ON t.id = coalesce(k.test_team_id, k.team_id)
   WHERE k.hash = ANY(:hashes::bytea[]) AND k.revoked_at IS NULL`,
).rows;

/** Lists the valid keys of a team, newest first. */
export const listLiveKeys = query<{ teamId: TeamId }, ApiKeyRow>(
  'api-keys.list-live',
  `SELECT ${columns} FROM api_keys WHERE team_id = :teamId AND revoked_at IS NULL ORDER BY id DESC`,
).rows;

/** Lists the valid keys that a person created, in any membership of the team. */
export const listLiveKeysByMember = query<MemberIds, ApiKeyRow>(
  'api-keys.list-live-of-member',
  `SELECT ${columns} FROM api_keys WHERE team_id = :teamId AND ${sqlIsCreatedBy} AND revoked_at IS NULL ORDER BY id`,
).rows;

/** Whether any live key of the team was ever used, including keys that are revoked now. */
export const hasUsedKey = query<{ teamId: TeamId }>(
  'api-keys.any-used',
  'SELECT FROM api_keys WHERE team_id = :teamId AND last_used_at IS NOT NULL AND test_team_id IS NULL LIMIT 1',
).hasRow;

/** Whether the person of a membership created a key, in this or an earlier membership of the team. */
export const isCreatedBy = query<MemberIds & { keyId: KeyId }>(
  'api-keys.is-created-by',
  `SELECT FROM api_keys WHERE id = :keyId AND ${sqlIsCreatedBy}`,
).hasRow;

export const lockKey = transactionQuery<{ keyId: KeyId }, ApiKeyRow>(
  'api-keys.lock',
  `SELECT ${columns} FROM api_keys WHERE id = :keyId FOR NO KEY UPDATE`,
).row;

export const markRevoked = transactionQuery<{ keyId: KeyId; at: Date }, ApiKeyRow>(
  'api-keys.revoke',
  `UPDATE api_keys SET revoked_at = :at WHERE id = :keyId AND revoked_at IS NULL RETURNING ${columns}`,
  { changes: 'key', team: 'team_id', ids: 'id' },
).run;

export const writeKeyUses = query<{ keyIds: readonly KeyId[]; usedAt: readonly Date[] }>(
  'api-keys.write-uses',
  `UPDATE api_keys k SET last_used_at = u.used_at FROM unnest(:keyIds::uuid[], :usedAt::timestamptz[]) AS u (id, used_at)
   WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.used_at)`,
).run;

/**
 * Revokes keys that a person created, in any membership of the team. `only` names the keys to revoke; null for all.
 * @returns the keys that were valid until now
 */
export const revokeKeysByMember = transactionQuery<
  MemberIds & { at: Date; only: readonly KeyId[] | null },
  Pick<ApiKeyRow, 'id' | 'name'>
>(
  'api-keys.revoke-of-member',
  `UPDATE api_keys SET revoked_at = :at
   WHERE team_id = :teamId AND ${sqlIsCreatedBy} AND revoked_at IS NULL AND (:only::uuid[] IS NULL OR id = ANY(:only))
   RETURNING id, name`,
  { changes: 'key', team: ':teamId', ids: 'id' },
).rows;

/** The ApiKey object of the API, without the text of the key (specification section 5.1). */
export function keyView(key: ApiKeyRow): ApiKey {
  return {
    id: publicId('key', key.id),
    name: key.name,
    permissions: key.permissions,
    created_by: key.created_by === null ? null : publicId('usr', key.created_by),
    created_at: key.created_at.toISOString(),
    ...(key.answers_for_team ? { answers_for_team: true as const } : {}),
    last_used_at: key.last_used_at?.toISOString() ?? null,
    ...(key.test_team_id === null ? {} : { test: true as const }),
  };
}

interface NewKey {
  readonly teamId: TeamId;
  readonly name: string;
  readonly permissions: readonly Grant[];
  readonly answersForTeam?: boolean | undefined;
  /** The test team for which a test key acts, from `ensureTestTeam`; undefined for a live key. */
  readonly testTeamId?: TeamId;
  /** The creating member and the grants that keys of their role may hold (`keyGrants`); undefined for the operator. */
  readonly creator?: { readonly id: MemberId; readonly grants: readonly RoleGrant[] };
  readonly by: AuditActor;
}

/**
 * Creates an API key and returns its text, which is never shown again: only a hash is stored (specification section
 * 5.1).
 * @throws 400 with param, also for a test key with team:write; 403, param permissions, if keys of the creator's role
 * may not hold them
 */
export async function createKey(trx: Transaction, services: Runtime, input: NewKey) {
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
    answers_for_team: input.answersForTeam ?? false,
    test_team_id: input.testTeamId ?? null,
  };
  await insertApiKey(trx, { ...row, hash: sha256(key) });
  await recordAudit(trx, services, {
    by: input.by,
    action: 'key.created',
    teamId: input.teamId,
    target: publicId('key', row.id),
    details: {
      name: row.name,
      permissions: row.permissions,
      ...(row.answers_for_team ? { answers_for_team: true } : {}),
      ...(isTest ? { test: true } : {}),
    },
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
