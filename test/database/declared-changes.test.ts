import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import '#server/app/app.ts';
import '#server/operations/record-restore.ts';
import { type ResourceType, resourceTypes } from '#contract/change.ts';
import { allStatements } from '#server/database/query.ts';
import { givenClient } from '#test/support/database/given-database.ts';
import { createTestDatabase } from '#test/support/database/test-database.ts';
import { given } from '#test/support/service/given.ts';

/** Tables whose rows a team sees, with the resource type of their changes. */
const seen: Readonly<Record<string, ResourceType>> = {
  teams: 'team',
  members: 'member',
  invitations: 'invitation',
  api_keys: 'key',
  opt_outs: 'opt_out',
  contacts: 'contact',
  numbers: 'number',
  setup_links: 'number',
  devices: 'number',
  setup_tests: 'number',
  number_health: 'number',
  messages: 'message',
  hand_outs: 'message',
  event_feed: 'event',
  webhooks: 'webhook',
  deliveries: 'delivery',
  attempts: 'delivery',
  due_deliveries: 'delivery',
  usage_months: 'usage',
  usage_days: 'usage',
  usage_notices: 'usage',
  audit_log: 'audit',
};

/** Tables whose changes are not notified, with the reason. */
const unseen: Readonly<Record<string, string>> = {
  demo_team: 'a row comes with its team, which has a change of its own',
  test_teams: 'a row comes with its test team, which no member sees',
  accounts: 'of one person; where teams show the name, its statement says so',
  account_sessions: 'of one person',
  passkeys: 'of one person',
  passkey_challenges: 'of one person',
  magic_links: 'of one person',
  throttle_counters: 'not visible to clients',
  device_sessions: 'written by every poll; clients that show last_seen_at read again by themselves',
  contact_handles: 'its contact changes in the same transaction',
  contact_words: 'its contact changes in the same transaction',
  send_queue: 'its message changes in the same transaction',
  in_flight: 'its message changes in the same transaction',
  poll_service: 'a change of health that follows from it is one of its number',
  recent_hand_outs: 'its message changes in the same transaction',
  conversations: 'its message changes in the same transaction',
  conversation_answers: 'its message is stored right after',
  message_segments: 'not visible to clients',
  conversation_reads: 'of one person; their other windows read again by themselves',
  idempotency_keys: 'not visible to clients',
  inbound_ids: 'not visible to clients',
  inbound_fingerprints: 'not visible to clients',
  events: 'shown once they have a position in the feed',
  unpublished_events: 'shown once they have a position in the feed',
  feed_removals: 'shown with the next page of the feed; the events that are left do not change',
  mails: 'not visible to clients',
  backups: 'of the server, not of a team; metrics and a mail say how they ended',
  media: 'part of its message, whose statements declare the change',
  media_chunks: 'the bytes of media',
  media_fetches: 'the queue of fetches; what a message waits for changes with its own statement',
  rate_windows: 'not visible to clients',
  erased_events: 'not visible to clients',
  erasures: 'shown as the answer; the rows that they change declare it',
  instance: 'not visible to clients',
  service_clock: 'shown by /readyz and the command line',
  simulated_phones: 'leases of processes',
  retention_progress: 'is read with each Home',
  promotions: 'not visible to clients',
  holds: 'has a notification channel of its own',
  clock_readings: 'not visible to clients',
};

/** Statements that write visible tables without declaring a change, with the reason. */
const silent: Readonly<Record<string, string>> = {
  'api-keys.write-uses: key': 'every few seconds; clients that show last_used_at read again by themselves',
  'numbers.mark-health-mailed: number': 'notes what a mail said; its change was declared before',
  'webhooks.claim-deliveries: delivery': 'takes a lease; the result declares the change',
  'webhooks.claim-deliveries: webhook': 'notes when it was last triggered; the result declares the change',
  'webhooks.release-delivery: delivery': 'ends a lease',
  'webhooks.postpone-leases: delivery': 'moves leases, which are not visible to clients',
  'webhooks.limit-leases: delivery': 'moves leases, which are not visible to clients',
  'webhooks.end-leases: delivery': 'runs before the service starts',
  'webhooks.limit-due-times: delivery': 'follows a jump of the time, after which all clients read again',
  'attempts.purge: delivery': 'forgets what is older than DELIVERY_LOG_DAYS',
  'messages.purge: message': 'forgets what is older than RETENTION_DAYS; pages are read again by themselves',
  'deliveries.purge: delivery':
    'forgets what is older than RETENTION_DAYS; pages are read again by themselves',
  'events.purge: event': 'forgets what is older than RETENTION_DAYS; pages are read again by themselves',
  'audit.purge: audit': 'forgets what is older than AUDIT_DAYS; pages are read again by themselves',
  'opt-outs.update-hashes: opt_out': 'the hash is not visible',
  'setup.reserve-text: number': 'counts; storing the message declares the change',
  'setup.release-text: number': 'counts; the person gets the refusal as the answer',
  'setup.pass-lock-test: number': 'is written by the page that shows it',
  'devices.purge-setup-links: number': 'forgets what was over 30 days ago',
  'invitations.purge: invitation': 'forgets what is over, and shown no more',
  'invitations.record-form-token: invitation':
    'records values that are not visible, of a message that was just accepted',
};

/** The tables that a statement writes. */
function tablesOf(text: string): string[] {
  const changing = text.replaceAll(/FOR (NO KEY )?UPDATE|DO UPDATE/g, '');
  const found = changing.matchAll(/\b(?:INSERT INTO|UPDATE|DELETE FROM|MERGE INTO)\s+(?:ONLY\s+)?(\w+)/g);
  return [...new Set([...found].map((match) => match[1] ?? ''))];
}

describe('the changes that statements declare (decision 0018)', () => {
  const client = givenClient(given(createTestDatabase));

  it('every table belongs to a resource type of change notifications, or is listed here with the reason why not', async () => {
    const { rows } = await client.query<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
         AND relname <> 'schema_versions'`,
    );
    const tables = rows.map(({ relname }) => relname).sort();
    assert.deepEqual([...Object.keys(seen), ...Object.keys(unseen)].sort(), tables);
  });

  it('every statement that writes to a table with a resource type declares its change, or is listed here', () => {
    const forgotten: string[] = [];
    for (const [name, { text, changes }] of allStatements()) {
      const nouns = new Set(tablesOf(text).flatMap((table) => seen[table] ?? []));
      for (const noun of nouns) {
        if (!changes.some((change) => change.changes === noun)) forgotten.push(`${name}: ${noun}`);
      }
    }
    assert.deepEqual(forgotten.sort(), Object.keys(silent).sort());
  });

  it('a statement that only reads declares no change, and every resource type has a statement that changes it', () => {
    const declared = new Set<ResourceType>();
    for (const [name, { text, changes }] of allStatements()) {
      for (const { changes: noun } of changes) declared.add(noun);
      assert.ok(changes.length === 0 || tablesOf(text).length > 0, name);
    }
    assert.deepEqual([...declared].sort(), [...resourceTypes].sort());
  });

  it('parameters for teams and ids have the type uuid, and a change of several teams has no ids', async () => {
    let parameters = 0;
    for (const [name, { text, changes }] of allStatements()) {
      if (changes.length === 0) continue;
      await client.query(`PREPARE probe AS ${text}`);
      const { rows } = await client.query<{ types: string[] }>(
        `SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = 'probe'`,
      );
      await client.query('DEALLOCATE probe');
      const typeOf = (source: string) => rows[0]?.types[Number(source.slice(1)) - 1];
      for (const { team, ids } of changes) {
        for (const source of [team, ids]) {
          if (!source?.startsWith('$')) continue;
          parameters += 1;
          assert.match(typeOf(source) ?? '', /^uuid(\[\])?$/, `${name}: ${source}`);
        }
        const hasIds = ids !== undefined && ids !== 'created';
        assert.ok(typeOf(team) !== 'uuid[]' || !hasIds, `${name}: whose are the ids?`);
      }
    }
    assert.ok(parameters > 50, String(parameters));
  });
});
