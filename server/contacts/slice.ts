import type { Runtime } from '#server/database/runtime.ts';
import type { Slice } from '#server/database/slice.ts';
import { contactRoutes } from './routes.ts';

/** People that a team knows by name. */
export function openContacts(services: Runtime): Slice {
  return { routes: contactRoutes(services) };
}
