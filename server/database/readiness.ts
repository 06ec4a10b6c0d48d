import { sharedLook } from '#server/platform/shared-look.ts';
import type { Runtime } from './runtime.ts';
import { statement } from './statement.ts';

const select = statement<Record<string, never>>('database.readiness', 'SELECT');

/** Any number of callers share one look at the database per second (specification section 10.4). */
const keptMs = 1_000;

/** Resolves where the database answers. */
export function createReadiness({
  database,
  clock,
}: Pick<Runtime, 'database' | 'clock'>): () => Promise<void> {
  return sharedLook(clock, keptMs, async () => void (await select.rows(database.pool)));
}
