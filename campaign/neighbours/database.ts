import pg from 'pg';

export interface Written {
  /** Row counts by table. */
  readonly rows: ReadonlyMap<string, number>;
  /** Bytes written to the write-ahead log so far. */
  readonly logBytes: number;
}

const listTables = `SELECT quote_ident(schemaname) || '.' || quote_ident(relname) AS name FROM pg_stat_user_tables`;

/** Counts the rows of every table and the bytes of the write-ahead log. */
export async function readDatabase(connectionString: string): Promise<Written> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(listTables);
    const rows = new Map<string, number>();
    for (const { name } of tables) {
      const counted = await client.query<{ count: string }>(`SELECT count(*) FROM ONLY ${name}`);
      rows.set(name, Number(counted.rows[0]?.count));
    }
    const position = await client.query<{ bytes: string }>(
      `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes`,
    );
    return { rows, logBytes: Number(position.rows[0]?.bytes) };
  } finally {
    await client.end();
  }
}
