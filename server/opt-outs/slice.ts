import type { Runtime } from '#server/database/runtime.ts';
import type { Slice } from '#server/database/slice.ts';
import { optOutRoutes } from './routes.ts';

/** Contacts that opted out. */
export function openOptOuts(services: Runtime): Slice {
  return { routes: optOutRoutes(services) };
}
