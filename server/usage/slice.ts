import type { Runtime } from '#server/database/runtime.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import { notifyUsageLimits } from './notify-usage-limits.ts';
import { usageRoutes } from './routes.ts';

export function openUsage(services: Runtime): Slice {
  return {
    routes: usageRoutes(services),
    jobs: [
      sweep('maintain', 'tell teams that near their limit', 30_000, 'keeps', () =>
        notifyUsageLimits(services),
      ),
    ],
  };
}
