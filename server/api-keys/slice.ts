import type { Runtime } from '#server/database/runtime.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import { createLastUsedTimes, type LastUsedTimes } from './api-key-authenticator.ts';
import { apiKeyRoutes } from './routes.ts';

export function openApiKeys(services: Runtime) {
  const uses = createLastUsedTimes(services);
  return {
    uses,
    routes: apiKeyRoutes(services),
    jobs: [sweep('api', 'write when keys were used', 5_000, 'keeps', () => uses.flush())],
  } satisfies Slice & { uses: LastUsedTimes };
}
