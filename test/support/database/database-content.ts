import { tableDeclarations } from '#server/database/table-declaration.ts';
import { connectToDatabase } from './database-connection.ts';

/** Row counts and digests by table, and sequence values. Tables that backups exclude are not included. */
export async function readDatabaseContent(databaseUrl: string): Promise<Record<string, string>> {
  const { query, close } = await connectToDatabase(databaseUrl);
  try {
    await query("SET TimeZone = 'UTC'");
    const content: Record<string, string> = {};
    const relations = await query<{ name: string; kind: string }>(
      `SELECT relname AS name, relkind AS kind FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S') ORDER BY relname`,
    );
    for (const { name, kind } of relations) {
      if (tableDeclarations.get(name)?.isInBackups === false) continue;
      const [row] = await query<{ found: string }>(
        kind === 'S'
          ? `SELECT last_value || ' ' || is_called AS found FROM ${name}`
          : `SELECT count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '') AS found FROM ${name} t`,
      );
      content[name] = row?.found ?? '';
    }
    return content;
  } finally {
    await close();
  }
}

/** True if the database has any table. */
export async function hasTables(databaseUrl: string): Promise<boolean> {
  return Object.keys(await readDatabaseContent(databaseUrl)).length > 0;
}
