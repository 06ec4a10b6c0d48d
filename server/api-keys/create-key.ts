import type { Grant } from '#contract/permissions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable } from '#server/database/statement.ts';
import { invalid } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { newApiKey } from './api-key.ts';
import { type ApiKeyRow, insertApiKey } from './api-key-store.ts';

interface NewKey {
  readonly teamId: TeamId;
  readonly name: string;
  readonly permissions: readonly Grant[];
}

/** Makes a key. Its text is returned here and nowhere else: only its hash is stored (specification section 5.1). */
export async function createKey(
  db: Queryable,
  { ids, clock }: Pick<Runtime, 'ids' | 'clock'>,
  input: NewKey,
): Promise<{ readonly row: ApiKeyRow; readonly key: string }> {
  const length = [...input.name].length;
  if (length < 1 || length > 100) throw invalid('name', 'name must have 1 to 100 characters.');
  if (input.permissions.length === 0)
    throw invalid('permissions', 'permissions must name at least one permission, or *.');
  const key = newApiKey();
  const row: ApiKeyRow = {
    team_id: input.teamId,
    id: ids.next('key'),
    name: input.name,
    permissions: [...new Set(input.permissions)],
    created_at: clock.now(),
    revoked_at: null,
  };
  await insertApiKey(db, { ...row, hash: sha256(key) });
  return { row, key };
}
