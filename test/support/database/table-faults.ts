import pg from 'pg';
import type { Transaction } from '#server/database/query.ts';
import type { MessageId, TeamId } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { holdTransaction } from './held-transaction.ts';

type Service = Pick<TestService, 'query'>;

/** Renames a table, so that statements with its name fail until it is restored. */
export async function takeTableAway({ query }: Service, table: 'hand_outs' | 'unpublished_events') {
  await query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
  return { restore: async () => void (await query(`ALTER TABLE ${table}_away RENAME TO ${table}`)) };
}

/** Fails a statement, so that the transaction can only end with ROLLBACK. */
export async function failStatement(trx: Transaction): Promise<void> {
  await trx.query('SELECT 1 / 0');
}

/** Makes PostgreSQL refuse each insert into a table with an error of this name, until `end`. */
export const refuseInserts = (
  service: Service,
  table: 'send_queue' | 'media_chunks',
  condition: 'disk_full' | 'query_canceled' | 'data_exception' | 'connection_failure',
) => refuse(service, condition, `INSERT ON ${table} FOR EACH STATEMENT`);

/** Makes a trigger that refuses writes with an error of this name. @param writes what the trigger is for */
async function refuse({ query }: Service, condition: string, writes: string) {
  await query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'refused for a test' USING ERRCODE = '${condition}'; END $$`);
  await query(`CREATE TRIGGER refuse BEFORE ${writes} EXECUTE FUNCTION refuse()`);
  return { end: async () => void (await query('DROP FUNCTION IF EXISTS refuse CASCADE')) };
}

/** Adds a constraint to a table until `end`. */
async function constrain({ query }: Service, table: string, check: string) {
  await query(`ALTER TABLE ${table} ADD CONSTRAINT refuses_all CHECK (${check}) NOT VALID`);
  return { end: async () => void (await query(`ALTER TABLE ${table} DROP CONSTRAINT refuses_all`)) };
}

/** Makes each insert into a table wait for a lock, in its statement, until `end`. */
export async function holdInserts(
  { databaseUrl }: Pick<TestService, 'databaseUrl'>,
  table: 'send_queue' | 'hand_outs' | 'rate_windows',
) {
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
export const refuseInsertsOf = (service: Service, teamId: TeamId, table: 'due_deliveries' | 'events') =>
  constrain(service, table, `team_id <> '${teamId}'::uuid`);

/** Adds a constraint that every message violates. PostgreSQL's error quotes the whole row. */
export const refuseMessages = (service: Service) => constrain(service, 'messages', 'content IS NULL');

/** Makes PostgreSQL refuse to record an inbound test of any device, until `end`. */
export const refuseReceivedTests = (service: Service) =>
  constrain(service, 'devices', "received_tests = '{}'");

/** Makes PostgreSQL refuse to delete the rows about a message from a table, until `end`. */
export const refuseDeletesOf = (service: Service, messageId: MessageId, table: 'hand_outs') =>
  refuse(service, 'data_corrupted', `DELETE ON ${table} FOR EACH ROW WHEN (OLD.message_id = '${messageId}')`);
