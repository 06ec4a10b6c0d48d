import type { Grant } from '#contract/permissions.ts';
import type { PlanName } from '#contract/plans.ts';
import { type Queryable, statement } from '#server/database/statement.ts';
import type { KeyId, TeamId } from '#server/platform/ids.ts';

export interface ApiKeyRow {
  readonly team_id: TeamId;
  readonly id: KeyId;
  readonly name: string;
  readonly permissions: Grant[];
  readonly created_at: Date;
  readonly revoked_at: Date | null;
}

/** A key that may be used, and what its team's plan allows. */
export interface LiveKeyRow extends ApiKeyRow {
  readonly plan: PlanName;
}

const columns = 'team_id, id, name, permissions, created_at, revoked_at';

const insert = statement<ApiKeyRow>(
  'api-keys.insert',
  `INSERT INTO api_keys (team_id, id, name, permissions, hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)
   RETURNING ${columns}`,
);
const findLive = statement<LiveKeyRow>(
  'api-keys.find-live',
  `SELECT k.team_id, k.id, k.name, k.permissions, k.created_at, k.revoked_at, t.plan
   FROM api_keys k JOIN teams t ON t.id = k.team_id WHERE k.hash = $1 AND k.revoked_at IS NULL`,
);
const revoke = statement<{ id: KeyId }>(
  'api-keys.revoke',
  'UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING id',
);

export async function insertApiKey(
  db: Queryable,
  key: Omit<ApiKeyRow, 'revoked_at'> & { readonly hash: Buffer },
): Promise<void> {
  await insert.row(db, key.team_id, key.id, key.name, key.permissions, key.hash, key.created_at);
}

export function findLiveKey(db: Queryable, hash: Buffer): Promise<LiveKeyRow | undefined> {
  return findLive.row(db, hash);
}

/** @returns false where there is no such key */
export async function revokeKey(db: Queryable, keyId: KeyId, at: Date): Promise<boolean> {
  return (await revoke.row(db, keyId, at)) !== undefined;
}
