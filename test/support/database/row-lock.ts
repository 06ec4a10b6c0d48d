import { backupLock } from '#server/database/backup-lock.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { type HeldTransaction, heldBy, holdTransaction } from './held-transaction.ts';

type Service = Pick<TestService, 'databaseUrl'>;

/** Rows that a test locks, by their name and one value or several. */
const lockable = {
  teamId: 'teams r WHERE r.id = ANY ($1)',
  accountId: 'accounts r WHERE r.id = ANY ($1)',
  webhookId: 'webhooks r WHERE r.id = ANY ($1)',
  /** The usage of all months. */
  usageOf: 'usage_months r WHERE r.team_id = ANY ($1)',
  numbersOf: 'numbers r WHERE r.team_id = ANY ($1)',
  phoneNumber: 'numbers r WHERE r.phone_number = ANY ($1) AND r.deleted_at IS NULL',
  /** Sessions of the phones with these numbers. */
  sessionOf: 'device_sessions r JOIN numbers n ON n.id = r.number_id WHERE n.phone_number = ANY ($1)',
  /** The setup links of this phone number. */
  setupLinksOf: 'setup_links r JOIN numbers n ON n.id = r.number_id WHERE n.phone_number = ANY ($1)',
  messagesInFlight: `messages r WHERE (r.status = 'polling') = ANY ($1)`,
  /** The queue entries of messages to this contact, without the messages. */
  queuedTo: 'send_queue r WHERE r.to_handle = ANY ($1)',
  /** The conversations with this contact. */
  conversationWith: 'conversations r WHERE r.contact = ANY ($1)',
  /** The opt-outs of this contact. */
  optOutOf: 'opt_outs r WHERE r.contact = ANY ($1)',
  messagesTo: 'messages r WHERE r.to_handle = ANY ($1)',
  messagesFrom: 'messages r WHERE r.from_handle = ANY ($1)',
  /** Day's count of inbound messages, the last row that the transaction of an inbound message writes. */
  receivedCountOf: `usage_days r WHERE r.team_id = ANY ($1) AND r.direction = 'inbound'`,
};

type Lockable = keyof typeof lockable;
type LockedRows = { [Name in Lockable]: Readonly<Record<Name, string | true | readonly string[]>> }[Lockable];

/** `no key update` allows writes of rows with a foreign key to the locked ones. */
type LockStrength = 'update' | 'no key update';

/** Locks rows in a transaction of the test. @throws if there is no such row */
export function holdRowLock(
  service: Service,
  rows: LockedRows,
  strength: LockStrength = 'update',
): Promise<HeldTransaction> {
  const [[name, values] = []] = Object.entries(rows);
  const sql = `SELECT FROM ${lockable[name as Lockable]} FOR ${strength.toUpperCase()} OF r`;
  return holdTransaction(service, sql, [[values].flat()]);
}

/** Locks a table against reads and writes. */
export function holdTableLock(
  service: Service,
  table: 'api_keys' | 'device_sessions' | 'devices' | 'members',
) {
  return holdTransaction(service, `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`, []);
}

/** Holds the lock of the schema, as a process does that creates it. */
export const holdSchemaLock = heldBy('SELECT pg_advisory_xact_lock(7061726401)');

/** Holds the lock of backups, as a running backup does. */
export const holdBackupLock = heldBy(`SELECT pg_advisory_xact_lock(${backupLock})`);
