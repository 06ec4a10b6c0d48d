import { countText } from '#server/platform/text.ts';
import { connectionsMax } from './database.ts';
import { type Queryable, query } from './query.ts';

/**
 * The lowest limit of connections of this role, and the processes that listen to notifications. `reserved_connections`
 * exists since PostgreSQL 16.
 */
const readLimit = query<object, { connections: number; processes: number }>(
  'database.connection-limit',
  `SELECT min(connections) AS connections,
     (SELECT count(*)::int FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'ownline notifications') AS processes
   FROM (
     SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
       - coalesce(current_setting('reserved_connections', true)::int, 0) AS connections
     UNION ALL SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user
     UNION ALL SELECT datconnlimit FROM pg_database WHERE datname = current_database()
   ) AS limits
   WHERE connections >= 0`,
).one;

/**
 * @param starting processes that do not listen yet
 * @returns a sentence if PostgreSQL allows fewer connections than the processes on the database may take
 */
export async function explainConnectionLimit(pool: Queryable, starting: number): Promise<string | undefined> {
  const { connections, processes } = await readLimit(pool);
  const all = Math.max(processes + starting, 1);
  if (connections >= all * connectionsMax) return undefined;
  return `PostgreSQL allows ${countText(connections, 'connection')}, and ${countText(all, 'process', 'processes')} of Ownline may take ${all * connectionsMax}.`;
}
