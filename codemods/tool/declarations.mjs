// Moves top-level declarations from one file to another; imports follow on both sides and everywhere else.
import { specifierFor } from './paths.mjs';
import { ts } from './service.mjs';

const parse = (path, text) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
const namesOf = (statement) =>
  ts.isVariableStatement(statement) ? statement.declarationList.declarations.flatMap((d) => (ts.isIdentifier(d.name) ? [d.name.text] : []))
    : statement.name ? [statement.name.text] : [];

function importsOf(source) {
  const list = [];
  for (const s of source.statements) {
    if (!ts.isImportDeclaration(s) || !s.importClause?.namedBindings || !ts.isNamedImports(s.importClause.namedBindings)) continue;
    for (const e of s.importClause.namedBindings.elements) {
      list.push({ local: e.name.text, imported: (e.propertyName ?? e.name).text, isType: s.importClause.isTypeOnly || e.isTypeOnly, from: s.moduleSpecifier.text, statement: s });
    }
  }
  return list;
}
function identifiersIn(node, into = new Set()) {
  const visit = (n) => {
    if (ts.isIdentifier(n)) into.add(n.text);
    ts.forEachChild(n, visit);
    for (const doc of n.jsDoc ?? []) void doc;
  };
  visit(node);
  return into;
}
function resolveSpec(from, spec) {
  if (spec.startsWith('#')) return spec.slice(1);
  if (!spec.startsWith('.')) return undefined;
  const parts = from.split('/').slice(0, -1);
  for (const piece of spec.split('/')) { if (piece === '.') continue; if (piece === '..') parts.pop(); else parts.push(piece); }
  return parts.join('/');
}
const importLine = (list, from) => {
  const names = [...new Set(list.map((i) => `${i.isType ? 'type ' : ''}${i.imported === i.local ? i.local : `${i.imported} as ${i.local}`}`))];
  const allTypes = list.every((i) => i.isType);
  return `import ${allTypes ? 'type ' : ''}{ ${names.map((n) => (allTypes ? n.replace(/^type /, '') : n)).join(', ')} } from '${from}';`;
};

/** @param names top-level declarations of `from`, in the order they shall stand in `to` */
export function moveDeclarations(tree, from, names, to, { problems, head = '', exportAll = true }) {
  if (!tree.has(from)) { problems.push(`move declarations: no file ${from}`); return false; }
  const text = tree.get(from);
  const source = parse(from, text);
  const moved = [];
  for (const name of names) {
    const statements = source.statements.filter((s) => namesOf(s).includes(name));
    if (statements.length === 0) { problems.push(`move declarations: ${from} has no ${name}`); continue; }
    for (const statement of statements) if (!moved.includes(statement)) moved.push(statement);
  }
  if (moved.length === 0) return false;
  const movedNames = new Set(moved.flatMap(namesOf));
  const used = new Set();
  for (const s of moved) identifiersIn(s, used);
  const isExported = (s) => s.modifiers?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword);
  const declared = new Map(source.statements.flatMap((s) => namesOf(s).map((n) => [n, s])));
  // What moves, with its comments.
  const pieces = moved.map((s) => {
    const full = text.slice(s.getFullStart(), s.end).replace(/^\s*\n/, '').trimStart();
    const start = full.length - text.slice(s.getStart(source), s.end).length;
    const body = full.slice(start);
    return full.slice(0, start) + (exportAll && !isExported(s) ? `export ${body}` : body);
  });
  // Of the old file what is left.
  let rest = text;
  for (const s of [...moved].sort((a, b) => b.pos - a.pos)) rest = rest.slice(0, s.getFullStart()) + rest.slice(s.end);
  // New file: imports.
  let targetText = tree.get(to);
  if (targetText !== undefined) {
    const t = parse(to, targetText);
    for (const statement of [...t.statements].reverse()) {
      if (!ts.isImportDeclaration(statement) || resolveSpec(to, statement.moduleSpecifier.text) !== from) continue;
      const bindings = statement.importClause?.namedBindings;
      if (!bindings || !ts.isNamedImports(bindings)) continue;
      const stay = bindings.elements.filter((e) => !movedNames.has((e.propertyName ?? e.name).text)).map((e) => ({ local: e.name.text, imported: (e.propertyName ?? e.name).text, isType: statement.importClause.isTypeOnly || e.isTypeOnly }));
      targetText = targetText.slice(0, statement.getStart(t)) + (stay.length > 0 ? importLine(stay, statement.moduleSpecifier.text) : '') + targetText.slice(statement.end + (stay.length === 0 && targetText[statement.end] === '\n' ? 1 : 0));
    }
  }
  const wanted = new Map();
  for (const i of importsOf(source)) if (used.has(i.local)) {
    const path = resolveSpec(from, i.from);
    const spec = path === undefined ? i.from : path === to ? undefined : specifierFor(to, path);
    if (spec) wanted.set(spec, [...(wanted.get(spec) ?? []), i]);
  }
  const needed = [...used].filter((n) => declared.has(n) && !movedNames.has(n));
  if (needed.length > 0) {
    const spec = specifierFor(to, from);
    wanted.set(spec, needed.map((n) => ({ local: n, imported: n, isType: ts.isInterfaceDeclaration(declared.get(n)) || ts.isTypeAliasDeclaration(declared.get(n)) })));
    for (const n of needed) {
      const s = declared.get(n);
      if (isExported(s)) continue;
      // It has to be exported now.
      const p = parse(from, rest);
      const again = p.statements.find((x) => namesOf(x).includes(n));
      rest = `${rest.slice(0, again.getStart(p))}export ${rest.slice(again.getStart(p))}`;
    }
  }
  let target = targetText ?? head;
  const lines = [...wanted].map(([spec, list]) => importLine(list, spec));
  if (targetText === undefined) target = `${lines.join('\n')}\n\n${head}${pieces.join('\n\n')}\n`.trimStart();
  else target = `${lines.join('\n')}\n${target.trimEnd()}\n\n${pieces.join('\n\n')}\n`.trimStart();
  tree.set(to, mergeImports(to, target));
  // Old file: imports of what moved and is used there still.
  const left = identifiersIn(parse(from, rest));
  const back = [...movedNames].filter((n) => left.has(n));
  if (back.length > 0) {
    const isType = (n) => { const s = declared.get(n); return ts.isInterfaceDeclaration(s) || ts.isTypeAliasDeclaration(s); };
    rest = `${importLine(back.map((n) => ({ local: n, imported: n, isType: isType(n) })), specifierFor(from, to))}\n${rest}`;
  }
  tree.set(from, dropUnused(from, mergeImports(from, rest)));
  // Everywhere else.
  for (const path of tree.ts()) {
    if (path === from || path === to) continue;
    const t = tree.get(path);
    if (![...movedNames].some((n) => t.includes(n))) continue;
    const s = parse(path, t);
    let next = t;
    const extra = [];
    for (const statement of [...s.statements].reverse()) {
      if (!ts.isImportDeclaration(statement) || resolveSpec(path, statement.moduleSpecifier.text) !== from) continue;
      const bindings = statement.importClause?.namedBindings;
      if (!bindings || !ts.isNamedImports(bindings)) continue;
      const all = bindings.elements.map((e) => ({ local: e.name.text, imported: (e.propertyName ?? e.name).text, isType: statement.importClause.isTypeOnly || e.isTypeOnly }));
      const go = all.filter((i) => movedNames.has(i.imported));
      if (go.length === 0) continue;
      const stay = all.filter((i) => !movedNames.has(i.imported));
      extra.push(...go);
      const put = stay.length > 0 ? importLine(stay, statement.moduleSpecifier.text) : '';
      next = next.slice(0, statement.getStart(s)) + put + next.slice(statement.end + (put === '' && next[statement.end] === '\n' ? 1 : 0));
    }
    if (extra.length > 0) tree.set(path, mergeImports(path, `${importLine(extra, specifierFor(path, to))}\n${next}`));
  }
  return true;
}

/** Several imports of one module become one. */
export function mergeImports(path, text) {
  const source = parse(path, text);
  const bySpec = new Map();
  for (const s of source.statements) {
    if (!ts.isImportDeclaration(s) || !s.importClause?.namedBindings || !ts.isNamedImports(s.importClause.namedBindings) || s.importClause.name) continue;
    const spec = s.moduleSpecifier.text;
    bySpec.set(spec, [...(bySpec.get(spec) ?? []), s]);
  }
  let next = text;
  const edits = [];
  for (const [spec, list] of bySpec) {
    if (list.length < 2) continue;
    const all = list.flatMap((s) => s.importClause.namedBindings.elements.map((e) => ({ local: e.name.text, imported: (e.propertyName ?? e.name).text, isType: s.importClause.isTypeOnly || e.isTypeOnly })));
    const unique = [...new Map(all.map((i) => [i.local, all.find((x) => x.local === i.local && !x.isType) ?? i])).values()];
    edits.push([list[0].getStart(source), list[0].end, importLine(unique, spec)]);
    for (const s of list.slice(1)) edits.push([s.getStart(source), s.end + (text[s.end] === '\n' ? 1 : 0), '']);
  }
  for (const [start, end, put] of edits.sort((a, b) => b[0] - a[0])) next = next.slice(0, start) + put + next.slice(end);
  return next;
}

/** Takes out imported names that the file does not use. */
export function dropUnused(path, text) {
  const source = parse(path, text);
  const used = new Set();
  for (const s of source.statements) if (!ts.isImportDeclaration(s)) identifiersIn(s, used);
  const edits = [];
  for (const s of source.statements) {
    if (!ts.isImportDeclaration(s) || !s.importClause?.namedBindings || !ts.isNamedImports(s.importClause.namedBindings)) continue;
    const all = s.importClause.namedBindings.elements.map((e) => ({ local: e.name.text, imported: (e.propertyName ?? e.name).text, isType: s.importClause.isTypeOnly || e.isTypeOnly }));
    const stay = all.filter((i) => used.has(i.local));
    if (stay.length === all.length) continue;
    if (stay.length > 0 || s.importClause.name) edits.push([s.getStart(source), s.end, importLine(stay, s.moduleSpecifier.text)]);
    else edits.push([s.getStart(source), s.end + (text[s.end] === '\n' ? 1 : 0), '']);
  }
  let next = text;
  for (const [start, end, put] of edits.sort((a, b) => b[0] - a[0])) next = next.slice(0, start) + put + next.slice(end);
  return next;
}
