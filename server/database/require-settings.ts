import { StartError } from '#server/platform/start-error.ts';
import type { Database } from './database.ts';
import { query } from './query.ts';

/** Says what to do about a pooler such as PgBouncer. */
export const poolerRemedy = 'Ownline pools its connections itself: connect to PostgreSQL or to haproxy.';

const countSettings = query<{ timeoutMs: string }>(
  'database.settings',
  `SELECT name FROM pg_settings
   WHERE (name, setting) IN (('statement_timeout', :timeoutMs), ('enable_seqscan', 'off'))`,
).count;

/**
 * Checks that connections have the settings that they asked for at their start. Without them nothing would end a slow
 * statement, and each batch would read whole tables.
 * @throws StartError if a pooler dropped them
 */
export async function requireSettings({ batches }: Pick<Database, 'batches'>): Promise<void> {
  const timeoutMs = String(batches.options.statement_timeout);
  if ((await countSettings(batches, { timeoutMs })) === 2) return;
  throw new StartError(
    `A pooler dropped Ownline's settings, or DATABASE_URL has options of its own, which replace them. ${poolerRemedy}`,
  );
}
