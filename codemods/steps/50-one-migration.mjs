import { readFileSync } from 'node:fs';
const code = /^(server|test|bench|campaign)\/.*\.ts$/;
const all = /^(server|test|bench|campaign|docs)\/.*\.(ts|md)$/;
const messages = /^server\/messages\/.*\.ts$/;
const hooks = /^(server\/webhooks\/.*|test\/webhooks\/.*|test\/support\/webhooks\/webhook-world|test\/coverage\/webhooks|test\/database\/webhook-invariants(\.slow)?\.test)\.ts$/;
/** Migrations that migration/001.do.schema.sql holds. Others are appended to it, with the renames of below, and reported. */
const known = ['001.do.foundation.sql', '002.do.mail.sql', '003.do.people.sql', '004.do.webhooks.sql', '005.do.known-browsers.sql', '006.do.room-to-change.sql', '008.do.audit-retention.sql', '009.do.clock.sql', '010.do.fan-outs.sql'];
/** Tokens that are names of columns and tables and nothing else. */
const tokens = {
  proven_at: 'email_verified_at', account_proven: 'account_verified', browsers_known_since: 'device_cookies_valid_from', proves_address: 'verifies_email', press_hash: 'form_token_hash', pressed_by: 'accepted_by',
  email_key: 'normalized_email', sign_in_links: 'magic_links', sign_in_failures: 'throttle_counters', useless_after: 'expires_at', inbound_recent: 'inbound_fingerprints', live_until: 'expires_at', lease_until: 'leased_until',
  settled_at: 'resolved_at', due_deliveries_single: 'due_deliveries_manual',
};
const text = [
  ...Object.entries(tokens).map(([old, now]) => ({ files: all, from: new RegExp(`(?<![a-zA-Z])${old}(?![a-zA-Z])`, 'g'), to: now, optional: old === 'due_deliveries_single' })),
  { files: code, from: /throttle_counters_failures/g, to: 'throttle_counters_hits', optional: true },
  { files: code, from: /messages_hand_outs_check/g, to: 'messages_hand_out_count_check', optional: true },
  { files: code, from: /_unplaced\b/g, to: '_default' },
  { files: code, from: /\|unplaced\)/g, to: '|default)', optional: true },
  { files: /^(server|docs)\//, from: /\bthe unplaced partition\b/g, to: 'the default partition', optional: true },
  // throttle_counters.failures → hits
  { files: /throttle-store\.ts$/, from: /\bfailures\b/g, to: 'hits' },
  { files: /^test\/accounts\//, from: /SELECT failures FROM throttle_counters/g, to: 'SELECT hits FROM throttle_counters', optional: true },
  { files: /^test\/accounts\/throttle/, from: /query<\{ failures: number \}>/g, to: 'query<{ hits: number }>', optional: true },
  { files: /^test\/accounts\/throttle/, from: /\(\{ failures \}\) => failures/g, to: '({ hits }) => hits', optional: true },
  { files: /^test\/accounts\//, from: /sum\(failures\)::int AS counted FROM throttle_counters/g, to: 'sum(hits)::int AS counted FROM throttle_counters', optional: true },
  { files: /^test\//, from: /window_start: at, failures: /g, to: 'window_start: at, hits: ', optional: true },
  { files: /^test\//, from: /throttle_counters SET failures = failures - 1/g, to: 'throttle_counters SET hits = hits - 1', optional: true },
  { files: /^test\//, from: /\(subject, window_start, failures\)/g, to: '(subject, window_start, hits)', optional: true },
  // messages.hand_outs (a count) → hand_out_count; the table hand_outs stays
  { files: messages, from: /\bm\.hand_outs\b/g, to: 'm.hand_out_count' },
  { files: messages, from: /(?<=[ ,])hand_outs = (?=[fl]\.)/g, to: 'hand_out_count = ' },
  { files: messages, from: /readonly hand_outs:/g, to: 'readonly hand_out_count:' },
  { files: 'server/messages/message.ts', from: /'hand_outs'/g, to: "'hand_out_count'" },
  { files: messages, from: /\bmessage\.hand_outs\b/g, to: 'message.hand_out_count' },
  { files: /^(test|bench|campaign)\/.*\.ts$/, from: /\bhand_outs(?=: [^'])/g, to: 'hand_out_count' },
  { files: /^(test|bench|campaign)\/.*\.ts$/, from: /max\(hand_outs\)/g, to: 'max(hand_out_count)', optional: true },
  { files: /^(test|bench|campaign)\/.*\.ts$/, from: /\bhand_outs(?= = \d)/g, to: 'hand_out_count' },
  { files: /^(test|bench|campaign)\/.*\.ts$/, from: /\bhand_outs(?=, sent_at)/g, to: 'hand_out_count', optional: true },
  { files: /^(test|bench|campaign)\/.*\.ts$/, from: /(?<=error_code, )hand_outs(?=\))/g, to: 'hand_out_count', optional: true },
  { files: /^docs\/.*\.md$/, from: /`messages\.hand_outs`/g, to: '`messages.hand_out_count`', optional: true },
  // messages.events (a number) → last_event_sequence
  { files: messages, from: /\bevents = m\.events\b/g, to: 'last_event_sequence = m.last_event_sequence' },
  { files: 'server/messages/message.ts', from: /readonly events: number/g, to: 'readonly last_event_sequence: number' },
  { files: 'server/messages/message.ts', from: /'events'/g, to: "'last_event_sequence'" },
  { files: 'server/messages/message-event.ts', from: /\bmessage\.events\b/g, to: 'message.last_event_sequence' },
  { files: 'server/messages/receive-message.ts', from: /(status, created_at, )events\)/g, to: '$1last_event_sequence)' },
  { files: /^test\/device-protocol\/reports/, from: /query<\{ events: number \}>/g, to: 'query<{ last_event_sequence: number }>', optional: true },
  { files: /^test\/device-protocol\/reports/, from: /SELECT events FROM messages/g, to: 'SELECT last_event_sequence FROM messages', optional: true },
  { files: /^test\/device-protocol\/reports/, from: /rows\[0\]\?\.events\b/g, to: 'rows[0]?.last_event_sequence', optional: true },
  // device_sessions: poll, returned
  { files: 'server/device-protocol/look-up-polls.ts', from: /SET poll = s\.poll \+ 1/g, to: 'SET poll_sequence = s.poll_sequence + 1' },
  { files: 'server/device-protocol/look-up-polls.ts', from: /RETURNING s\.number_id, s\.session_id, s\.poll\b/g, to: 'RETURNING s.number_id, s.session_id, s.poll_sequence AS poll' },
  { files: 'server/device-protocol/look-up-polls.ts', from: /AND session_id = \$2 AND poll = \$3/g, to: 'AND session_id = $2 AND poll_sequence = $3' },
  { files: 'server/messages/claim-message.ts', from: /\bs\.poll = /g, to: 's.poll_sequence = ' },
  { files: 'server/messages/claim-message.ts', from: /\bsession_id, poll, seq\b/g, to: 'session_id, poll_sequence, seq' },
  { files: 'server/messages/claim-message.ts', from: /\bsession_id = \$4 AND poll = \$5/g, to: 'session_id = $4 AND poll_sequence = $5' },
  { files: 'server/messages/claim-message.ts', from: /\bs\.returned = \(SELECT returned FROM/g, to: 's.requeue_count = (SELECT requeue_count FROM' },
  { files: messages, from: /SET returned = (s\.)?returned \+ 1/g, to: 'SET requeue_count = $1requeue_count + 1' },
  { files: 'server/devices/device-store.ts', from: /\bsession_id, poll, expires_at\b/g, to: 'session_id, poll_sequence, expires_at' },
  { files: 'server/devices/device-store.ts', from: /(?<=^ +|\n +)poll = 1,/g, to: 'poll_sequence = 1,' },
  { files: /^(test|bench)\/.*\.ts$/, from: /\bsession_id, poll, (expires_at|seq)\b/g, to: 'session_id, poll_sequence, $1', optional: true },
  { files: /^(test|bench)\/.*\.ts$/, from: /SELECT poll FROM device_sessions/g, to: 'SELECT poll_sequence AS poll FROM device_sessions', optional: true },
  { files: /^(test|bench)\/.*\.ts$/, from: /\bs\.poll(?= [><=])/g, to: 's.poll_sequence', optional: true },
  { files: /^(test|bench)\/.*\.ts$/, from: /(AS "sessionId", )s\.poll\b(?! AS)/g, to: '$1s.poll_sequence AS poll', optional: true },
  { files: /^(test|bench)\/.*\.ts$/, from: /session_id, poll(?= FROM device_sessions)/g, to: 'session_id, poll_sequence AS poll', optional: true },
  { files: /^(test|bench)\/.*\.ts$/, from: /(SELECT [^`]*device_id, session_id, )poll\b/g, to: '$1poll_sequence', optional: true },
  // webhooks.term → generation; the lane single → manual
  { files: hooks, from: /\bisNewTerm\b/g, to: 'isNewGeneration', optional: true },
  { files: hooks, from: /\bis_of_term\b/g, to: 'is_of_generation', optional: true },
  { files: hooks, from: /\bterm\b/g, to: 'generation' },
  { files: hooks, from: /\bterms\b/g, to: 'generations', optional: true },
  { files: /^docs\/(decisions\/0017.*|specification|architecture)\.md$/, from: /\b(a|an earlier|a new|its|that) term\b|`term`/g, to: (all) => all.replace('term', 'generation'), optional: true },
  { files: /^docs\/decisions\/0017.*\.md$/, from: /\bterm\b/g, to: 'generation', optional: true },
  { files: hooks, from: /'single'/g, to: "'manual'" },
  { files: hooks, from: /\bsingle: /g, to: 'manual: ', optional: true },
  { files: hooks, from: /\bsingle(?= attempts?\b)/g, to: 'manual', optional: true },
  { files: /^(docs\/(specification|architecture|decisions\/0017.*)\.md|test\/coverage\/.*)$/, from: /\bsingle attempts\b/g, to: 'manual attempts', optional: true },
  // Columns that nothing reads
  { files: /^test\/database\/statements/, from: /    const unread = \['mode'\];\n/g, to: '', optional: true },
  { files: /^test\/database\/statements/, from: /rows\.map\(\(row\) => row\.column_name\)\.filter\(\(name\) => !unread\.includes\(name\)\)/g, to: 'rows.map((row) => row.column_name)', optional: true },
  { files: /^test\/(database\/statements|coverage\/.*)/, from: /has the columns of the table, less those that no answer needs/g, to: 'has the columns of the table', optional: true },
  // Compatibility with versions that were never released
  { files: 'server/mail/sealed-mail.ts', from: /  for \(const purpose of \[purposeOf\(envelope\), unboundPurpose\]\) \{\n    try \{\n      return JSON\.parse\(secrets\.open\(purpose, sealed\)\) as RenderedMail;\n    \} catch \{\}\n  \}\n  return undefined;/g, to: '  try {\n    return JSON.parse(secrets.open(purposeOf(envelope), sealed)) as RenderedMail;\n  } catch {\n    return undefined;\n  }' },
  { files: 'server/mail/sealed-mail.ts', from: /\n\/\*\*\n \* What bodies were sealed for before[\s\S]*?const unboundPurpose = 'mail';\n/g, to: '' },
  { files: 'server/usage/usage-store.ts', from: /\/\/ No less than none: a process of the version before counts no days while an upgrade goes on\.\n/g, to: '' },
  { files: 'server/usage/usage-store.ts', from: /messages = greatest\(0, d\.messages - back\.messages\)/g, to: 'messages = d.messages - back.messages' },
  { files: /^test\/mail\/retries(\.slow)?\.test\.ts$/, from: /  it\('that waited when bodies were not bound[\s\S]*?\n  \}\);\n\n/g, to: '' },
  { files: 'docs/specification.md', from: / What waits at an upgrade from a version that did not bind\s+them is still sent\./g, to: '', optional: true },
  { files: /^docs\/decisions\/0013.*\.md$/, from: / Bodies from before that, sealed for "mail" alone, are still\s+opened,[\s\S]*?stop the old ones with the role deliver first\./g, to: '', optional: true },
  { files: 'test/coverage/endpoints.ts', from: /    'database\/upgrade(\.slow)?\.test\.ts': \[\s+'publishes the events of before[^\]]*\],\n/g, to: '', optional: true },
  { files: /^test\/database\/migrate/, from: /migration 1 foundation took/g, to: 'migration 1 schema took', optional: true },
];
export default {
  message: 'database: one migration for the first release, with the columns\' standard names; older databases are refused',
  text,
  after(tree, { problems }) {
    const folder = 'server/database/migrations/';
    const template = readFileSync(new URL('../migration/001.do.schema.sql', import.meta.url), 'utf8');
    let schema = template;
    for (const path of tree.paths((p) => p.startsWith(folder))) {
      const name = path.slice(folder.length);
      if (!known.includes(name)) {
        let more = tree.get(path);
        for (const [old, now] of Object.entries(tokens)) more = more.replaceAll(new RegExp(`\\b${old}\\b`, 'g'), now);
        schema += `\n-- ── ${name.replace(/^\d+\.do\.|\.sql$/g, '')} ──\n\n${more.trim()}\n`;
        problems.push(`${path} is not in migration/001.do.schema.sql: it was appended to 001; work it in by hand`);
      }
      tree.delete(path);
    }
    for (const name of known) if (!tree.original.has(folder + name)) problems.push(`${name} is gone: is 001.do.schema.sql still right?`);
    tree.set(`${folder}001.do.schema.sql`, schema);
    for (const path of tree.paths((p) => /^test\/database\/upgrade(\.slow)?\.test\.ts$/.test(p))) tree.delete(path);
    // A database of before is refused with a sentence.
    const path = 'server/database/migrate.ts';
    let migrate = tree.get(path);
    const call = '  refuseNewer(await postgrator.getDatabaseVersion());\n';
    if (!migrate.includes(call)) problems.push(`${path}: refuseNewer is not called as expected; add refuseUnreleased by hand`);
    migrate = migrate.replace(call, `${call}  await refuseUnreleased(client);\n`);
    migrate = migrate.replace('/** Migrations only add', `/** Databases of before the first release had other tables under the same version. Nothing carries them over. */
async function refuseUnreleased(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string | null }>(
    "SELECT to_jsonb(s) ->> 'name' AS name FROM schema_version s WHERE version = 1",
  );
  const name = rows[0]?.name ?? undefined;
  if (name === undefined || name === 'schema') return;
  throw new StartError(
    'The database was made by Ownline from before its first release, and no release reads it. Start with another DATA_DIR, or ' +
      'with an empty database in DATABASE_URL; keep the old one for as long as you need what is in it.',
  );
}

/** Migrations only add`);
    if (!migrate.includes('async function refuseUnreleased')) problems.push(`${path}: refuseUnreleased was not added`);
    // The newer-release check looks at the number alone: the unreleased ones were up to 9 and more.
    migrate = migrate.replace(`${call}  await refuseUnreleased(client);\n`, `  const found = await postgrator.getDatabaseVersion();\n  if (found > 0) await refuseUnreleased(client);\n  refuseNewer(found);\n`);
    tree.set(path, migrate);
    tree.set('test/database/schema.test.ts', `import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { migrate } from '#server/database/migrate.ts';
import { StartError } from '#server/platform/start-error.ts';

const engineUrl = process.env.TEST_ENGINE_URL ?? '';

describe('the schema of the first release (decision 0003)', () => {
  const name = \`test_\${randomBytes(6).toString('hex')}\`;
  const url = engineUrl.replace('/ownline?', \`/\${name}?\`);
  let administrator: pg.Client;
  let client: pg.Client;

  before(async () => {
    administrator = new pg.Client({ connectionString: engineUrl.replace('/ownline?', '/postgres?') });
    await administrator.connect();
    await administrator.query(\`CREATE DATABASE \${name}\`);
    client = new pg.Client({ connectionString: url });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await administrator.query(\`DROP DATABASE \${name} WITH (FORCE)\`);
    await administrator.end();
  });

  it('a database from before the first release is refused with what to do, and stays as it is', async () => {
    await client.query('CREATE TABLE schema_version (version bigint PRIMARY KEY, name text, md5 text, run_at timestamptz)');
    await client.query(\`INSERT INTO schema_version VALUES (1, 'foundation'), (9, 'clock')\`);
    await assert.rejects(migrate(url), (error: Error) => {
      assert.ok(error instanceof StartError);
      assert.match(error.message, /from before its first release/);
      assert.match(error.message, /another DATA_DIR, or with an empty database in DATABASE_URL/);
      return true;
    });
    const { rows } = await client.query(\`SELECT tablename FROM pg_tables WHERE schemaname = 'public'\`);
    assert.deepEqual(rows, [{ tablename: 'schema_version' }]);
    await client.query('DROP TABLE schema_version');
  });

  it('leaves room on their pages for rows that are updated soon, in months made later too (decision 0017)', async () => {
    await migrate(url);
    await client.query(\`SELECT make_partition('deliveries', '2026-11-01', 1000)\`);
    const { rows } = await client.query<{ relname: string; reloptions: string[] }>(
      \`SELECT relname, reloptions FROM pg_class WHERE reloptions::text LIKE '%fillfactor%' AND relname ~ 'deliveries' ORDER BY 1\`,
    );
    assert.deepEqual(
      rows.map(({ relname, reloptions }) => \`\${relname} \${reloptions}\`),
      ['deliveries_2026_11', 'deliveries_default', 'due_deliveries'].map((table) => \`\${table} fillfactor=50\`),
    );
  });
});
`);
  },
  quick: ['test/coverage.test.ts', 'test/docs.test.ts', 'test/database/schema.test.ts', 'test/database/migrate.test.ts', 'test/database/migrate.slow.test.ts'],
};
