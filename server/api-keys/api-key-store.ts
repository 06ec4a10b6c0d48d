import type { Grant } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { KeyId, MemberId, TeamId } from '#server/platform/ids/ids.ts';

export interface ApiKeyRow {
  readonly team_id: TeamId;
  readonly id: KeyId;
  readonly name: string;
  readonly permissions: Grant[];
  readonly created_by: MemberId | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
  /** The test team for which a test key acts; null for a live key. */
  readonly test_team_id: TeamId | null;
}

/** A valid key, with the plan of the team for which it acts. */
export interface LiveKeyRow extends ApiKeyRow {
  readonly hash: Buffer;
  readonly plan: PlanName;
}

const columns =
  'team_id, id, name, permissions, created_by, created_at, last_used_at, revoked_at, test_team_id';

/** SQL condition: the person of a membership created the key, in this or an earlier membership of the team. */
const sqlIsCreatedBy = `created_by IN (
  SELECT m.id FROM members m JOIN members own ON own.account_id = m.account_id AND own.team_id = m.team_id
  WHERE own.team_id = :teamId AND own.id = :memberId)`;

export const insertApiKey = query<Omit<ApiKeyRow, 'revoked_at'> & { hash: Buffer }>(
  'api-keys.insert',
  `INSERT INTO api_keys (team_id, id, name, permissions, created_by, hash, created_at, test_team_id)
   VALUES (:team_id, :id, :name, :permissions, :created_by, :hash, :created_at, :test_team_id)`,
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
export const listLiveKeysByMember = query<{ teamId: TeamId; memberId: MemberId }, ApiKeyRow>(
  'api-keys.list-live-of-member',
  `SELECT ${columns} FROM api_keys WHERE team_id = :teamId AND ${sqlIsCreatedBy} AND revoked_at IS NULL ORDER BY id`,
).rows;

/** Whether any live key of the team was ever used, even one that is revoked now. */
export const hasUsedKey = query<{ teamId: TeamId }>(
  'api-keys.any-used',
  'SELECT FROM api_keys WHERE team_id = :teamId AND last_used_at IS NOT NULL AND test_team_id IS NULL LIMIT 1',
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
  { teamId: TeamId; memberId: MemberId; at: Date; only: readonly KeyId[] | null },
  Pick<ApiKeyRow, 'id' | 'name'>
>(
  'api-keys.revoke-of-member',
  `UPDATE api_keys SET revoked_at = :at
   WHERE team_id = :teamId AND ${sqlIsCreatedBy} AND revoked_at IS NULL AND (:only::uuid[] IS NULL OR id = ANY(:only))
   RETURNING id, name`,
  { changes: 'key', team: ':teamId', ids: 'id' },
).rows;
