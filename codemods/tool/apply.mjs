// node tool/apply.mjs <checkout> [--from 03] [--to 07] [--only 05] [--no-check] [--no-commit] [--dry]
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { moveFiles, rewritePathTexts } from './paths.mjs';
import { applyEdits, commentRanges, computeRenames, replaceInRanges, titleRanges } from './service.mjs';
import { Tree } from './tree.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const root = resolve(args.find((a) => !a.startsWith('--') && !/^\d\d[a-z]?$/.test(a)));
const option = (name) => { const i = args.indexOf(`--${name}`); return i < 0 ? undefined : args[i + 1]; };
const flag = (name) => args.includes(`--${name}`);
const [from, to, only] = [option('from') ?? '00', option('to') ?? '99z', option('only')];

const steps = readdirSync(join(here, '../steps')).filter((f) => /^\d\d[a-z]?-.*\.mjs$/.test(f)).sort();
for (const file of steps) {
  const id = file.split('-')[0];
  if (only ? id !== only : id < from || id > to) continue;
  const { default: step } = await import(pathToFileURL(join(here, '../steps', file)));
  const started = Date.now();
  console.log(`\n=== ${file}: ${step.message}`);
  const ok = await applyStep(step, id);
  if (ok && !flag('dry') && !flag('no-commit')) { mkdirSync(join(here, '../logs'), { recursive: true }); writeFileSync(join(here, `../logs/step-${id}.sha`), run('git', ['rev-parse', 'HEAD']).out.trim()); }
  console.log(`--- ${file}: ${ok ? 'ok' : 'FAILED'} in ${((Date.now() - started) / 1000).toFixed(0)} s`);
  if (!ok) process.exit(1);
}

function run(command, words, options = {}) {
  const result = spawnSync(command, words, { cwd: root, encoding: 'utf8', maxBuffer: 1e8, ...options });
  return { ok: result.status === 0, out: `${result.stdout ?? ''}${result.stderr ?? ''}` };
}

async function applyStep(step, id) {
  if (!flag('no-commit') && run('git', ['status', '--porcelain']).out.trim() !== '') { console.log('the checkout is not clean'); return false; }
  const tree = new Tree(root);
  const problems = [];
  const report = [];
  await step.before?.(tree, { problems, report });
  // 1. Symbols, on one snapshot.
  const wanted = Object.entries(step.symbols ?? {}).flatMap(([file, names]) =>
    Object.entries(names).map(([path, to]) => (typeof to === 'string' ? { file, path, to } : { file, path, ...to })));
  // Names that are to change wherever they are declared: { old: 'new' } or { old: (path) => 'new' | undefined }.
  for (const [name, target] of Object.entries(step.everywhere ?? {})) {
    for (const path of tree.ts()) {
      const now = typeof target === 'function' ? target(path, tree.get(path)) : /^(server|test|contract)\//.test(path) ? target : undefined;
      if (now === undefined || !new RegExp(`\\b${name}\\b`).test(tree.get(path))) continue;
      for (const at of ['>', '.']) wanted.push({ file: path, path: `*${at}${name}`, to: now, optional: true });
    }
  }
  if (wanted.length > 0) {
    const { edits, problems: found } = computeRenames(tree, wanted, (line) => report.push(line.trim()));
    problems.push(...found);
    report.push(`symbols: ${applyEdits(tree, edits)} places for ${wanted.length} names`);
    renameInComments(tree, wanted, report);
  }
  // 2. Files.
  const moves = new Map(Object.entries({ ...(step.moves ?? {}), ...((await step.movesOf?.(tree, { problems, report })) ?? {}) }));
  if (moves.size > 0) {
    moveFiles(tree, moves, problems);
    rewritePathTexts(tree, moves, report);
    report.push(`files: ${moves.size}`);
  }
  // 3. Text.
  for (const rule of step.text ?? []) {
    const files = tree.paths((p) => matches(rule.files, p));
    let count = 0;
    for (const path of files) {
      const text = tree.get(path);
      const next = text.replaceAll(rule.from, (...all) => { count += 1; return typeof rule.to === 'function' ? rule.to(...all) : expand(rule.to, all); });
      if (next !== text) tree.set(path, next);
    }
    if (count === 0 && !rule.optional) problems.push(`text: ${rule.from} found nowhere in ${rule.files}`);
  }
  // Names of statements, in quotes or backticks.
  for (const [old, now] of Object.entries(step.statements ?? {})) {
    let count = 0;
    for (const path of tree.paths((p) => /\.(ts|md)$/.test(p))) {
      const text = tree.get(path);
      const next = text.replaceAll(`'${old}'`, () => { count += 1; return `'${now}'`; }).replaceAll(`\`${old}\``, () => { count += 1; return `\`${now}\``; }).replaceAll(`'${old}: `, () => { count += 1; return `'${now}: `; });
      if (next !== text) tree.set(path, next);
    }
    if (count === 0) problems.push(`statement ${old} found nowhere`);
  }
  // 4. Words of comments, documents and titles.
  if (step.words?.length) words(tree, step.words, step.wordFiles, report);
  await step.after?.(tree, { problems, report });
  for (const line of report) console.log(`  ${line}`);
  for (const line of problems) console.log(`  ! ${line}`);
  if (flag('dry')) return true;
  const changed = tree.write();
  console.log(`  written: ${changed} files`);
  if (changed === 0 && moves.size === 0) { console.log('  nothing to do'); return true; }
  if (flag('no-check')) return true;
  const formatted = [...tree.changed, ...[...moves.values()]].filter((p) => /\.(ts|mjs|json)$/.test(p));
  let result = flag('fast') ? (formatted.length ? run('node_modules/.bin/biome', ['check', '--write', '--no-errors-on-unmatched', ...formatted]) : { ok: true, out: '' }) : run('npm', ['run', '-s', 'format']);
  if (!result.ok) { console.log(result.out.slice(0, 1500)); if (/ parse ━/.test(result.out)) return false; }
  if (flag('fast')) { execFileSync('git', ['add', '-A'], { cwd: root }); execFileSync('git', ['commit', '-qm', step.message], { cwd: root }); return true; }
  result = run('npm', ['run', '-s', 'docs']);
  if (!result.ok) { console.log(result.out.slice(-3000)); }
  result = run('npm', ['run', '-s', 'check']);
  mkdirSync(join(here, '../logs'), { recursive: true });
  writeFileSync(join(here, `../logs/check-${id}.txt`), result.out);
  if (!result.ok) { console.log(result.out.slice(-9000)); return false; }
  if (step.quick?.length) {
    const tests = step.quick.filter((p) => tree.has(p));
    result = run('npm', ['test', '--', ...tests]);
    writeFileSync(join(here, `../logs/test-${id}.txt`), result.out);
    if (!result.ok) { console.log(result.out.slice(-6000)); return false; }
  }
  if (!flag('no-commit')) {
    execFileSync('git', ['add', '-A'], { cwd: root });
    execFileSync('git', ['commit', '-qm', step.message], { cwd: root });
  }
  return true;
}

function matches(files, path) {
  if (files === undefined) return true;
  if (files instanceof RegExp) return files.test(path);
  return [files].flat().some((f) => (f instanceof RegExp ? f.test(path) : f.endsWith('/') ? path.startsWith(f) : f === path));
}
function expand(to, all) {
  const groups = all.slice(1, all.findIndex((x, i) => i > 0 && typeof x === 'number'));
  return to.replace(/\$(\d)/g, (_, n) => (n <= groups.length ? (groups[n - 1] ?? '') : `$${n}`)).replaceAll('$&', () => all[0]);
}

/** Names that can be nothing else, wherever comments and documents write them. */
function renameInComments(tree, wanted, report) {
  const names = new Map();
  for (const { path, to } of wanted) {
    const old = path.split(/[.>]/).pop().replace('#', '');
    const now = to.replace('#', '');
    if (/[a-z][A-Z]|^[A-Z][a-z]+[A-Z]/.test(old) && names.get(old) !== null) names.set(old, names.has(old) && names.get(old) !== now ? null : now);
  }
  for (const [old, now] of names) if (now === null) names.delete(old);
  if (names.size === 0) return;
  const re = new RegExp(`(?<![\\w.#-])(${[...names.keys()].join('|')})(?![\\w-])`, 'g');
  let count = 0;
  const change = (text) => text.replace(re, (old) => { count += 1; return names.get(old); });
  for (const path of tree.paths()) {
    const text = tree.get(path);
    let next = text;
    if (path.endsWith('.ts')) { if (re.test(text)) { re.lastIndex = 0; next = replaceInRanges(text, commentRanges(text, path), change); } re.lastIndex = 0; }
    else if (path.endsWith('.md')) next = change(text);
    if (next !== text) tree.set(path, next);
  }
  report.push(`names in comments and documents: ${count}`);
}

export function preserveCase(from, to) {
  return /^[A-Z]/.test(from) ? to.charAt(0).toUpperCase() + to.slice(1) : to;
}
function words(tree, rules, only, report) {
  const counts = new Map();
  for (const path of tree.paths()) {
    if (only && !matches(only, path)) continue;
    const text = tree.get(path);
    let next = text;
    // Code is no prose: what stands in backticks, and the targets of links.
    const change = (part) => part.split(/(`[^`\n]*`|\]\([^)\n]*\))/).map((piece, i) => (i % 2 ? piece : changeWords(piece))).join('');
    const changeWords = (part) => {
      let now = part;
      for (const [re, to, where] of rules) {
        if (where && !matches(where, path)) continue;
        now = now.replace(re, (...all) => { counts.set(String(re), (counts.get(String(re)) ?? 0) + 1); return preserveCase(all[0], typeof to === 'function' ? to(...all) : expand(to, all)); });
      }
      return now;
    };
    if (path.endsWith('.ts')) {
      if (!rules.some(([re]) => { re.lastIndex = 0; const hit = re.test(text); re.lastIndex = 0; return hit; })) continue;
      next = replaceInRanges(next, commentRanges(next, path), change);
      if (path.startsWith('test/')) next = replaceInRanges(next, titleRanges(next, path), change);
    } else if (path.endsWith('.md') && !path.startsWith('referees/')) next = change(text);
    else if (path.endsWith('.sql')) next = text.replace(/--[^\n]*/g, change);
    if (next !== text) tree.set(path, next);
  }
  for (const [re] of rules) { const n = counts.get(String(re)) ?? 0; report.push(`words ${re}: ${n}${n === 0 ? '  (none)' : ''}`); }
}
