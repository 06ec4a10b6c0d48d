import type { Runtime } from '#server/database/runtime.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import { purgeAbandonedMedia } from './media-store.ts';
import { mediaRoutes } from './routes.ts';

/** Files of messages. */
export function openMedia(services: Runtime): Slice {
  return {
    routes: mediaRoutes(services),
    jobs: [
      sweep('maintain', 'purge abandoned media', 60_000, 'expires', () => purgeAbandonedMedia(services)),
    ],
  };
}
