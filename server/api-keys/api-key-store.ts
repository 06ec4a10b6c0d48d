import type { Grant } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import { type Queryable, statement, transactionStatement } from '#server/database/statement.ts';
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

/** SQL condition: the person of membership $2 created the key, in this or an earlier membership of the team. */
const sqlIsCreatedBy = `created_by IN (
  SELECT m.id FROM members m JOIN members own ON own.account_id = m.account_id AND own.team_id = m.team_id
  WHERE own.team_id = $1 AND own.id = $2)`;
const insert = statement<[TeamId, KeyId, string, Grant[], MemberId | null, Buffer, Date, TeamId | null]>(
  'api-keys.insert',
  `INSERT INTO api_keys (team_id, id, name, permissions, created_by, hash, created_at, test_team_id)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
   RETURNING ${columns}`,
  { changes: 'key', team: '$1', ids: '$2' },
);

export const findLiveKeys = statement<[hashes: readonly Buffer[]], LiveKeyRow>(
  'api-keys.find-live',
  `SELECT ${columns
    .split(', ')
    .map((column) => `k.${column}`)
    .join(', ')}, k.hash, t.plan
   FROM api_keys k JOIN teams t ON t.id = coalesce(k.test_team_id, k.team_id)
   WHERE k.hash = ANY($1::bytea[]) AND k.revoked_at IS NULL`,
).rows;

/** Lists the valid keys of a team, newest first. */
export const listLiveKeys = statement<[teamId: TeamId], ApiKeyRow>(
  'api-keys.list-live',
  `SELECT ${columns} FROM api_keys WHERE team_id = $1 AND revoked_at IS NULL ORDER BY id DESC`,
).rows;

/** Lists the valid keys that a person created, in any membership of the team. */
export const listLiveKeysByMember = statement<[teamId: TeamId, memberId: MemberId], ApiKeyRow>(
  'api-keys.list-live-of-member',
  `SELECT ${columns} FROM api_keys WHERE team_id = $1 AND ${sqlIsCreatedBy} AND revoked_at IS NULL ORDER BY id`,
).rows;
const anyUsed = statement<[TeamId], { found: boolean }>(
  'api-keys.any-used',
  `SELECT EXISTS (
     SELECT FROM api_keys WHERE team_id = $1 AND last_used_at IS NOT NULL AND test_team_id IS NULL
   ) AS found`,
);

export const lockKey = transactionStatement<[keyId: KeyId], ApiKeyRow>(
  'api-keys.lock',
  `SELECT ${columns} FROM api_keys WHERE id = $1 FOR NO KEY UPDATE`,
).row;

export const markRevoked = transactionStatement<[keyId: KeyId, at: Date], ApiKeyRow>(
  'api-keys.revoke',
  `UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING ${columns}`,
  { changes: 'key', team: 'team_id', ids: 'id' },
).run;

export const writeKeyUses = statement<[keyIds: readonly KeyId[], usedAt: readonly Date[]]>(
  'api-keys.write-uses',
  `UPDATE api_keys k SET last_used_at = u.used_at FROM unnest($1::uuid[], $2::timestamptz[]) AS u (id, used_at)
   WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.used_at)`,
).run;
const revokeOf = statement<[TeamId, MemberId, Date, readonly KeyId[] | null], Pick<ApiKeyRow, 'id' | 'name'>>(
  'api-keys.revoke-of-member',
  `UPDATE api_keys SET revoked_at = $3
   WHERE team_id = $1 AND ${sqlIsCreatedBy} AND revoked_at IS NULL AND ($4::uuid[] IS NULL OR id = ANY($4))
   RETURNING id, name`,
  { changes: 'key', team: '$1', ids: 'id' },
);

export async function insertApiKey(
  db: Queryable,
  key: Omit<ApiKeyRow, 'revoked_at'> & { readonly hash: Buffer },
): Promise<void> {
  await insert.run(
    db,
    key.team_id,
    key.id,
    key.name,
    key.permissions,
    key.created_by,
    key.hash,
    key.created_at,
    key.test_team_id,
  );
}

/**
 * Revokes keys that a person created, in any membership of the team.
 * @param only the keys to revoke; undefined for all
 * @returns the keys that were valid until now
 */
export function revokeKeysByMember(
  db: Queryable,
  teamId: TeamId,
  memberId: MemberId,
  at: Date,
  only?: readonly KeyId[],
): Promise<Pick<ApiKeyRow, 'id' | 'name'>[]> {
  return revokeOf.rows(db, teamId, memberId, at, only ?? null);
}

/** Whether any live key of the team was ever used, even one that is revoked now. */
export async function hasUsedKey(db: Queryable, teamId: TeamId): Promise<boolean> {
  return (await anyUsed.row(db, teamId))?.found ?? false;
}
