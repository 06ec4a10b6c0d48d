import type { ApiKey } from '#contract/api-key.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { ApiKeyRow } from './api-key-store.ts';

/** The ApiKey object of the API, without the text of the key (specification section 5.1). */
export function keyView(key: ApiKeyRow): ApiKey {
  return {
    id: publicId('key', key.id),
    name: key.name,
    permissions: key.permissions,
    created_by: key.created_by === null ? null : publicId('usr', key.created_by),
    created_at: key.created_at.toISOString(),
    last_used_at: key.last_used_at?.toISOString() ?? null,
    ...(key.test_team_id === null ? {} : { test: true as const }),
  };
}
