import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** Tables that tests search for text. */
type Table =
  | 'account_sessions'
  | 'accounts'
  | 'api_keys'
  | 'audit_log'
  | 'invitations'
  | 'magic_links'
  | 'mails'
  | 'members'
  | 'numbers'
  | 'teams'
  | 'throttle_counters';

/** Each row of these tables as PostgreSQL prints it, with bytes in hexadecimal. */
export async function storedRowTexts({ query }: Service, ...tables: readonly Table[]): Promise<string[]> {
  const texts: string[] = [];
  for (const table of tables) {
    const rows = await query<{ text: string }>(`SELECT t::text AS text FROM ${table} t ORDER BY 1`);
    texts.push(...rows.map(({ text }) => text));
  }
  return texts;
}

/**
 * Rows of every table by its name, as `storedRowTexts` returns them. A partitioned table occurs twice: as a whole,
 * and as one table per month.
 */
export async function allStoredRowTexts(service: Service): Promise<ReadonlyMap<string, readonly string[]>> {
  const tables = await service.query<{ name: Table }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT LIKE 'pg\\_%'
       AND schemaname <> 'information_schema'`,
  );
  const texts = new Map<string, string[]>();
  for (const { name } of tables) texts.set(name, await storedRowTexts(service, name));
  return texts;
}

/** Lists the tables that contain one of the texts in any row, also as bytes in hexadecimal. */
export async function tablesWithText(service: Service, texts: readonly string[]): Promise<string[]> {
  const written = texts.flatMap((text) => [text, Buffer.from(text).toString('hex')]);
  return [...(await allStoredRowTexts(service))].flatMap(([table, rows]) =>
    rows.some((row) => written.some((text) => row.includes(text))) ? table : [],
  );
}
