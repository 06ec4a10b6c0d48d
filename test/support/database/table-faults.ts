import pg from 'pg';
import type { Transaction } from '#server/database/query.ts';
import type { MessageId, TeamId } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { type HeldTransaction, holdTransaction } from './held-transaction.ts';

interface Ending {
  readonly end: () => Promise<void>;
}

/** Renames a table, so that statements with its name fail until it is restored. */
export async function takeTableAway(
  { query }: Pick<TestService, 'query'>,
  table: 'hand_outs' | 'unpublished_events',
): Promise<{ readonly restore: () => Promise<void> }> {
  await query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
  return { restore: async () => void (await query(`ALTER TABLE ${table}_away RENAME TO ${table}`)) };
}

/** Fails a statement, so that the transaction can only end with ROLLBACK. */
export async function failStatement(trx: Transaction): Promise<void> {
  await trx.query('SELECT 1 / 0');
}

/** Makes PostgreSQL refuse each insert into a table with an error of this name, until `end`. */
export async function refuseInserts(
  { query }: Pick<TestService, 'query'>,
  table: 'send_queue' | 'media_chunks',
  condition: 'disk_full' | 'query_canceled' | 'data_exception' | 'connection_failure',
): Promise<Ending> {
  return refuse(query, condition, `INSERT ON ${table} FOR EACH STATEMENT`);
}

/** Makes a trigger that refuses writes with an error of this name. @param writes as in CREATE TRIGGER */
async function refuse(query: TestService['query'], condition: string, writes: string): Promise<Ending> {
  await query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'refused for a test' USING ERRCODE = '${condition}'; END $$`);
  await query(`CREATE TRIGGER refuse BEFORE ${writes} EXECUTE FUNCTION refuse()`);
  return { end: async () => void (await query('DROP FUNCTION IF EXISTS refuse CASCADE')) };
}

/** Adds a constraint to a table until `end`. */
async function constrain(query: TestService['query'], table: string, check: string): Promise<Ending> {
  await query(`ALTER TABLE ${table} ADD CONSTRAINT refuses_all CHECK (${check}) NOT VALID`);
  return { end: async () => void (await query(`ALTER TABLE ${table} DROP CONSTRAINT refuses_all`)) };
}

/** Makes each insert into a table wait for a lock, in its statement, until `end`. */
export async function holdInserts(
  { databaseUrl }: Pick<TestService, 'databaseUrl'>,
  table: 'send_queue' | 'hand_outs',
): Promise<Pick<HeldTransaction, 'waiting'> & { readonly end: () => Promise<void> }> {
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  await run(`
    CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = '1min' AS $$
      BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
    CREATE TRIGGER waits BEFORE INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION wait_for_test()`);
  const { waiting, release } = await holdTransaction({ databaseUrl }, 'SELECT pg_advisory_xact_lock(1)', []);
  return {
    waiting,
    end: async () => {
      await release();
      await run('DROP FUNCTION IF EXISTS wait_for_test CASCADE');
    },
  };
}

/** Makes PostgreSQL refuse each row of a team that is inserted into a table, until `end`. */
export async function refuseInsertsOf(
  { query }: Pick<TestService, 'query'>,
  teamId: TeamId,
  table: 'due_deliveries' | 'events',
): Promise<Ending> {
  return constrain(query, table, `team_id <> '${teamId}'::uuid`);
}

/** Adds a constraint that every message violates. PostgreSQL's error quotes the whole row. */
export async function refuseMessages({ query }: Pick<TestService, 'query'>): Promise<Ending> {
  return constrain(query, 'messages', 'content IS NULL');
}

/** Makes PostgreSQL refuse to record an inbound test of any device, until `end`. */
export async function refuseReceivedTests({ query }: Pick<TestService, 'query'>): Promise<Ending> {
  return constrain(query, 'devices', "received_tests = '{}'");
}

/** Makes PostgreSQL refuse to delete the rows about a message from a table, until `end`. */
export async function refuseDeletesOf(
  { query }: Pick<TestService, 'query'>,
  messageId: MessageId,
  table: 'hand_outs',
): Promise<Ending> {
  return refuse(
    query,
    'data_corrupted',
    `DELETE ON ${table} FOR EACH ROW WHEN (OLD.message_id = '${messageId}')`,
  );
}
