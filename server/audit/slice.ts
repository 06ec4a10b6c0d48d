import type { Runtime } from '#server/database/runtime.ts';
import type { Slice } from '#server/database/slice.ts';
import { RefusalLog } from './refusal-log.ts';
import { auditRoutes } from './routes.ts';

export function openAudit(services: Runtime) {
  const refusals = new RefusalLog(services);
  return {
    refusals,
    routes: auditRoutes(services),
    observe: (answered) => refusals.note(answered),
    drain: { name: 'refusals', run: () => refusals.drain() },
  } satisfies Slice & { refusals: RefusalLog };
}
