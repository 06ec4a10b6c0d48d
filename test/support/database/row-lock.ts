import { backupLock } from '#server/database/purge-walk.ts';
import type { AccountId, TeamId, WebhookId } from '#server/platform/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { type HeldTransaction, holdTransaction } from './held-transaction.ts';

/** Rows that a test locks. */
type LockedRows =
  | { readonly teamId: TeamId }
  | { readonly accountId: AccountId }
  | { readonly webhookId: WebhookId }
  /** The usage of all months. */
  | { readonly usageOf: TeamId | readonly TeamId[] }
  | { readonly numbersOf: TeamId }
  | { readonly phoneNumber: string | readonly string[] }
  /** Sessions of the phones with these numbers. */
  | { readonly sessionOf: string | readonly string[] }
  /** The setup links of this phone number. */
  | { readonly setupLinksOf: string }
  | { readonly messagesInFlight: true }
  /** The queue entries of messages to this contact, without the messages. */
  | { readonly queuedTo: string }
  /** The conversations with this contact. */
  | { readonly conversationWith: string }
  /** The opt-outs of this contact. */
  | { readonly optOutOf: string }
  | { readonly messagesTo: string }
  | { readonly messagesFrom: string }
  /** Day's count of inbound messages, the last row that the transaction of an inbound message writes. */
  | { readonly receivedCountOf: TeamId };

/** `no key update` allows writes of rows with a foreign key to the locked ones. */
type LockStrength = 'update' | 'no key update';

/** Locks rows in a transaction of the test. @throws if there is no such row */
export function holdRowLock(
  service: Pick<TestService, 'databaseUrl'>,
  rows: LockedRows,
  strength: LockStrength = 'update',
): Promise<HeldTransaction> {
  const [from, ...values] = selection(rows);
  return holdTransaction(service, `SELECT FROM ${from} FOR ${strength.toUpperCase()} OF r`, values);
}

/** Locks a table against reads and writes. */
export function holdTableLock(
  service: Pick<TestService, 'databaseUrl'>,
  table: 'api_keys' | 'devices' | 'members',
): Promise<HeldTransaction> {
  return holdTransaction(service, `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`, []);
}

/** Holds the lock of the schema, as a process does that creates it. */
export function holdSchemaLock(service: Pick<TestService, 'databaseUrl'>): Promise<HeldTransaction> {
  return holdTransaction(service, 'SELECT pg_advisory_xact_lock(7061726401)', []);
}

/** Holds the lock of backups, as a running backup does. */
export function holdBackupLock(service: Pick<TestService, 'databaseUrl'>): Promise<HeldTransaction> {
  return holdTransaction(service, 'SELECT pg_advisory_xact_lock($1)', [backupLock]);
}

function selection(rows: LockedRows): readonly [from: string, ...values: unknown[]] {
  if ('teamId' in rows) return ['teams r WHERE r.id = $1', rows.teamId];
  if ('accountId' in rows) return ['accounts r WHERE r.id = $1', rows.accountId];
  if ('webhookId' in rows) return ['webhooks r WHERE r.id = $1', rows.webhookId];
  if ('usageOf' in rows) return ['usage_months r WHERE r.team_id = ANY ($1)', [rows.usageOf].flat()];
  if ('numbersOf' in rows) return ['numbers r WHERE r.team_id = $1', rows.numbersOf];
  if ('phoneNumber' in rows)
    return ['numbers r WHERE r.phone_number = ANY ($1) AND r.deleted_at IS NULL', [rows.phoneNumber].flat()];
  if ('sessionOf' in rows)
    return [
      'device_sessions r JOIN numbers n ON n.id = r.number_id WHERE n.phone_number = ANY ($1)',
      [rows.sessionOf].flat(),
    ];
  if ('setupLinksOf' in rows)
    return [
      'setup_links r JOIN numbers n ON n.id = r.number_id WHERE n.phone_number = $1',
      rows.setupLinksOf,
    ];
  if ('queuedTo' in rows) return ['send_queue r WHERE r.to_handle = $1', rows.queuedTo];
  if ('conversationWith' in rows) return ['conversations r WHERE r.contact = $1', rows.conversationWith];
  if ('optOutOf' in rows) return ['opt_outs r WHERE r.contact = $1', rows.optOutOf];
  if ('messagesTo' in rows) return ['messages r WHERE r.to_handle = $1', rows.messagesTo];
  if ('messagesFrom' in rows) return ['messages r WHERE r.from_handle = $1', rows.messagesFrom];
  if ('receivedCountOf' in rows)
    return [`usage_days r WHERE r.team_id = $1 AND r.direction = 'inbound'`, rows.receivedCountOf];
  return [`messages r WHERE r.status = 'polling'`];
}
