// node tool/owners.mjs <checkout>: tables, and which slices write and read them.
import { Tree } from './tree.mjs';
const tree = new Tree(process.argv[2]);
const sql = tree.paths((p) => p.endsWith('.sql') && p.includes('migrations/')).map((p) => tree.get(p)).join('\n');
const tables = [...sql.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+) \(/g)].map((m) => m[1]).sort();
const writes = new Map(), reads = new Map();
for (const path of tree.ts().filter((p) => p.startsWith('server/'))) {
  const slice = path.split('/')[1];
  const text = tree.get(path).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  for (const t of tables) {
    const w = new RegExp(`\\b(INSERT INTO|UPDATE|DELETE FROM|MERGE INTO) (ONLY )?${t}\\b`).test(text);
    const r = new RegExp(`\\b(FROM|JOIN|USING) ${t}\\b`).test(text.replaceAll(new RegExp(`DELETE FROM ${t}\\b`, 'g'), ''));
    if (w) writes.set(t, (writes.get(t) ?? new Set()).add(`${slice}`));
    if (r) reads.set(t, (reads.get(t) ?? new Set()).add(slice));
  }
}
for (const t of tables) console.log(`${t}: W ${[...(writes.get(t) ?? [])].join(', ')} | R ${[...(reads.get(t) ?? [])].join(', ')}`);
