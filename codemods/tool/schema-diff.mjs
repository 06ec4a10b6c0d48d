// cd <checkout> && ./node_modules/.bin/node ../codemods/tool/schema-diff.mjs <git ref with the old migrations>
// Compares the catalog that the old migrations make with that of the new ones, modulo the renames of step 50.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
const root = process.cwd();
const ref = process.argv[2] ?? 'main';
const { default: pg } = await import(createRequire(`${root}/package.json`).resolve('pg'));
const { withTestEngine } = await import(`${root}/test/support/runner/test-engine.ts`);
const folder = 'server/database/migrations/';
const list = execFileSync('git', ['ls-tree', '--name-only', ref, folder], { encoding: 'utf8' }).trim().split('\n').filter((p) => p.endsWith('.sql')).sort();
const old = list.map((p) => execFileSync('git', ['show', `${ref}:${p}`], { encoding: 'utf8' })).join('\n');
const now = readdirSync(folder).filter((p) => p.endsWith('.sql')).sort().map((p) => readFileSync(folder + p, 'utf8')).join('\n');
const renames = [['proven_at', 'email_verified_at'], ['browsers_known_since', 'device_cookies_valid_from'], ['proves_address', 'verifies_email'], ['press_hash', 'form_token_hash'], ['pressed_by', 'accepted_by'], ['email_key', 'normalized_email'],
  ['sign_in_links', 'magic_links'], ['sign_in_failures', 'throttle_counters'], ['useless_after', 'expires_at'], ['inbound_recent', 'inbound_fingerprints'], ['live_until', 'expires_at'], ['lease_until', 'leased_until'], ['settled_at', 'resolved_at'],
  ['due_deliveries_single', 'due_deliveries_manual'], ["'single'", "'manual'"], ['_unplaced', '_default'], ['term', 'generation']];
const perLine = (line) => {
  let l = line;
  for (const [a, b] of renames) l = l.replaceAll(new RegExp(/^\w+$/.test(a) && !a.startsWith('_') ? `(?<![a-z])${a}(?![a-z])` : a, 'g'), b);
  if (/throttle_counters/.test(l)) l = l.replaceAll('failures', 'hits');
  if (/\bmessages(_default)?\b|guard_message_transition/.test(l)) l = l.replaceAll(/\bhand_outs\b(?!_)/g, 'hand_out_count').replaceAll(/\bevents smallint\b|column events\b/g, (m) => m.replace('events', 'last_event_sequence')).replaceAll('messages.events ', 'messages.last_event_sequence ').replaceAll('messages_events', 'messages_last_event_sequence').replaceAll('messages_hand_outs', 'messages_hand_out_count').replaceAll('messages_default.events ', 'messages_default.last_event_sequence ');
  if (/device_sessions|in_flight/.test(l)) l = l.replaceAll(/\.poll\b/g, '.poll_sequence').replaceAll('returned', 'requeue_count');
  return l;
};
const catalog = async (client) => {
  const q = async (sql) => (await client.query({ text: sql, rowMode: 'array' })).rows.map((r) => r.join(' '));
  return [
    ...(await q(`SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r','p') LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE a.attnum > 0 AND NOT a.attisdropped`)),
    ...(await q(`SELECT 'constraint ' || r.relname || ' ' || k.contype::text || ' ' || CASE WHEN k.contype = 'n' THEN '' ELSE k.conname END || ' ' || pg_get_constraintdef(k.oid) FROM pg_constraint k JOIN pg_class r ON r.oid = k.conrelid AND r.relnamespace = 'public'::regnamespace`)),
    ...(await q(`SELECT 'index ' || pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class c ON c.oid = indrelid AND c.relnamespace = 'public'::regnamespace`)),
    ...(await q(`SELECT 'trigger ' || pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid AND c.relnamespace = 'public'::regnamespace WHERE NOT t.tgisinternal`)),
    ...(await q(`SELECT 'function ' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ') ' || coalesce(array_to_string(p.proconfig, ','), '') FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace`)),
    ...(await q(`SELECT 'table ' || relname || ' ' || relkind::text || relpersistence::text || ' ' || coalesce(array_to_string(reloptions, ','), '') FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r','p','S')`)),
    ...(await q(`SELECT 'sequence ' || sequencename || ' ' || data_type || ' ' || cache_size FROM pg_sequences WHERE schemaname = 'public'`)),
  ];
};
await withTestEngine(async (url) => {
  const of = async (name, sql) => {
    const admin = new pg.Client({ connectionString: url.replace('/ownline?', '/postgres?') });
    await admin.connect(); await admin.query(`CREATE DATABASE ${name}`); await admin.end();
    const client = new pg.Client({ connectionString: url.replace('/ownline?', `/${name}?`) });
    client.on('error', () => undefined); await client.connect(); await client.query(sql).catch((e) => { console.log(name, e.message, sql.slice(Math.max(0, (e.position ?? 0) - 200), (e.position ?? 0) + 100)); throw e; });
    const result = await catalog(client).catch((e) => { console.log(name, e.message); throw e; });
    await client.end();
    return result;
  };
  const before = new Set((await of('schema_old', old)).map(perLine));
  const after = new Set(await of('schema_new', now));
  const gone = [...before].filter((l) => !after.has(l)).sort();
  const added = [...after].filter((l) => !before.has(l)).sort();
  console.log(`old ${before.size}, new ${after.size} entries\n--- only in the old schema (after the renames)`);
  for (const l of gone) console.log(`- ${l}`);
  console.log('+++ only in the new schema');
  for (const l of added) console.log(`+ ${l}`);
});
