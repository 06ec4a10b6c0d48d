import { analyzeErased } from '#server/database/analyze-erased.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Slice, sweep } from '#server/database/slice.ts';
import { continueErasures } from './erase-contact.ts';
import { erasureRoutes } from './routes.ts';

/** Erasing contacts on request. */
export function openErasure(services: Runtime): Slice {
  return {
    routes: erasureRoutes(services),
    jobs: [
      sweep('maintain', 'erase contacts', 5_000, 'keeps', () => continueErasures(services)),
      sweep('maintain', 'analyze tables after an erasure', 60_000, 'keeps', () => analyzeErased(services)),
    ],
  };
}
