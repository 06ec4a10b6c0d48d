import pg from 'pg';
import { tableDeclarations } from '#server/database/table-declaration.ts';

/** Row counts and digests by table, and sequence values. Tables that backups exclude are not included. */
export async function readDatabaseContent(databaseUrl: string): Promise<Record<string, string>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("SET TimeZone = 'UTC'");
    const content: Record<string, string> = {};
    const { rows: relations } = await client.query<{ name: string; kind: string }>(
      `SELECT relname AS name, relkind AS kind FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S') ORDER BY relname`,
    );
    for (const { name, kind } of relations) {
      if (tableDeclarations.get(name)?.isInBackups === false) continue;
      const { rows } = await client.query<{ found: string }>(
        kind === 'S'
          ? `SELECT last_value || ' ' || is_called AS found FROM ${name}`
          : `SELECT count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '') AS found FROM ${name} t`,
      );
      content[name] = rows[0]?.found ?? '';
    }
    return content;
  } finally {
    await client.end();
  }
}

/** True if the database has any table. */
export async function hasTables(databaseUrl: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ found: boolean }>(
      "SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r') AS found",
    );
    return rows[0]?.found === true;
  } finally {
    await client.end();
  }
}
