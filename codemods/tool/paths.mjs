// Moves of files: import specifiers follow, and so do the paths that comments, docs and tests write.
import { basename, dirname, join, normalize, relative } from 'node:path';
import { ts } from './service.mjs';

const aliases = ['server', 'contract', 'simulated-phone', 'webhook-listener', 'campaign', 'test', 'web', 'shortcut'];

/** The part of the tree within which imports are relative. */
export function homeOf(path) {
  const [top, second] = path.split('/');
  if (top === 'server') return second?.includes('.') ? 'server/' : `server/${second}/`;
  if (top === 'test') return dirname(path) + '/';
  return `${top}/`;
}
export function specifierFor(from, to) {
  const top = from.split('/')[0];
  if (dirname(from) !== dirname(to) && aliases.includes(to.split('/')[0]) && !(top === to.split('/')[0] && !/^(server|contract|test|web)$/.test(top))) return `#${to}`;
  const path = relative(dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}
function resolve(from, specifier) {
  if (specifier.startsWith('#')) return specifier.slice(1);
  if (specifier.startsWith('.')) return normalize(join(dirname(from), specifier));
  return undefined;
}

/** @param moves Map old → new */
export function moveFiles(tree, moves, problems) {
  for (const [from, to] of [...moves]) {
    if (!tree.has(from)) { problems.push(`move: no file ${from}`); moves.delete(from); }
    else if (tree.has(to) && !moves.has(to)) { problems.push(`move: ${to} is there already (for ${from})`); moves.delete(from); }
    if (!moves.has(from)) continue;
  }
  const newPath = (path) => moves.get(path) ?? path;
  for (const path of tree.ts()) {
    const text = tree.get(path);
    const at = newPath(path);
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    const edits = [];
    const consider = (literal) => {
      const target = resolve(path, literal.text);
      if (target === undefined) return;
      const now = newPath(target);
      if (now === target && at === path) return;
      if (!tree.has(target)) return;
      const keep = at === path && now === target;
      if (keep) return;
      const written = specifierFor(at, now);
      if (written !== literal.text) edits.push([literal.getStart(source) + 1, literal.end - 1, written]);
    };
    const visit = (node) => {
      if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) consider(node.moduleSpecifier);
      else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword && node.arguments[0] && ts.isStringLiteral(node.arguments[0])) consider(node.arguments[0]);
      else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) consider(node.argument.literal);
      else if (ts.isNewExpression(node) && node.expression.getText(source) === 'URL' && node.arguments?.[1]?.getText(source) === 'import.meta.url' && ts.isStringLiteral(node.arguments[0])) {
        const [first] = node.arguments;
        const target = normalize(join(dirname(path), first.text));
        const isFolder = /\/$/.test(first.text);
        // A folder or file that moves along, or one that stays where it is.
        const inMoved = [...moves].find(([old]) => old === target || (old.startsWith(`${target.replace(/\/$/, '')}/`) && target !== './' && target !== '.' ));
        const to = inMoved ? (inMoved[0] === target ? inMoved[1] : target) : target;
        if (at === path && to === target) return;
        let written = relative(dirname(at), to) || '.';
        if (!written.startsWith('.')) written = `./${written}`;
        if (isFolder && !written.endsWith('/')) written += '/';
        if (written !== first.text) edits.push([first.getStart(source) + 1, first.end - 1, written]);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    if (edits.length === 0) continue;
    let next = text;
    for (const [start, end, put] of edits.sort((a, b) => b[0] - a[0])) next = next.slice(0, start) + put + next.slice(end);
    tree.set(path, next);
  }
  for (const [from, to] of moves) tree.move(from, to);
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Paths written in text: whole, without `test/` in quotes, as a regular expression, and bare names where they are unique. */
export function rewritePathTexts(tree, moves, report) {
  const whole = new Map();
  for (const [from, to] of moves) {
    whole.set(from, to);
    if (from.startsWith('test/')) whole.set(from.slice(5), to.slice(5));
  }
  const bare = new Map();
  const after = new Map();
  for (const path of tree.all) { const name = basename(path); after.set(name, (after.get(name) ?? 0) + 1); }
  const before = new Map();
  const back = new Map([...moves].map(([from, to]) => [to, from]));
  for (const path of tree.all) { const name = basename(back.get(path) ?? path); before.set(name, (before.get(name) ?? 0) + 1); }
  for (const [from, to] of moves) {
    const [a, b] = [basename(from), basename(to)];
    if (a !== b && before.get(a) === 1) bare.set(a, b);
  }
  // Longest first, so that a path is not found inside another.
  const keys = [...whole.keys()].sort((a, b) => b.length - a.length);
  if (keys.length === 0) return;
  const wholeRe = new RegExp(`(?<![\\w/.-])(?:\\./|#|\\.\\./)?(${keys.map(escaped).join('|')})(?![\\w-])`, 'g');
  const slashed = (p) => escaped(p).replaceAll('/', '\\/');
  const slashRe = new RegExp(keys.map((k) => escaped(slashed(k))).sort((a, b) => b.length - a.length).join('|'), 'g');
  const slashMap = new Map(keys.map((k) => [slashed(k), slashed(whole.get(k))]));
  const bareKeys = [...bare.keys()].sort((a, b) => b.length - a.length);
  const bareRe = bareKeys.length ? new RegExp(`(?<![\\w/.-])(${bareKeys.map(escaped).join('|')})(?![\\w-])`, 'g') : undefined;
  let count = 0;
  for (const path of tree.paths()) {
    if (/package-lock/.test(path)) continue;
    const text = tree.get(path);
    let next = text.replace(wholeRe, (all, key, offset) => {
      // Specifiers were done by syntax; a test path without `test/` is meant only in docs and in test/.
      if (!key.includes('/')) return all;
      if (all.startsWith('../')) return all;
      count += 1;
      return all.replace(key, whole.get(key));
    });
    next = next.replace(slashRe, (all) => { count += 1; return slashMap.get(all); });
    if (bareRe) next = next.replace(bareRe, (all) => { count += 1; return bare.get(all); });
    if (next !== text) tree.set(path, next);
  }
  report.push(`paths in text: ${count}`);
}
