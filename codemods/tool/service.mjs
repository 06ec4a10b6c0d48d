// A language service over a Tree, and renames computed on one snapshot.
import { join } from 'node:path';
import typescript from 'typescript';
export const ts = typescript;

export function createService(tree) {
  const root = tree.root;
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const roots = tree.ts().filter((p) => /^(contract|server|simulated-phone|webhook-listener|test|bench|campaign|web|shortcut)\//.test(p));
  const abs = (p) => join(root, p);
  const memory = new Map(roots.map((p) => [abs(p), tree.get(p)]));
  const host = {
    getScriptFileNames: () => roots.map(abs),
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) => {
      const text = memory.get(file) ?? ts.sys.readFile(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => options,
    getDefaultLibFileName: (o) => ts.getDefaultLibFilePath(o),
    fileExists: (f) => memory.has(f) || ts.sys.fileExists(f),
    readFile: (f) => memory.get(f) ?? ts.sys.readFile(f),
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    realpath: ts.sys.realpath,
  };
  const service = ts.createLanguageService(host, ts.createDocumentRegistry());
  return { service, program: service.getProgram(), abs, rel: (f) => (f.startsWith(`${root}/`) ? f.slice(root.length + 1) : f) };
}

const nameOf = (node) => (node.name && (ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name) || ts.isStringLiteral(node.name)) ? node.name : undefined);
const isDeclaration = (node) =>
  ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node) || ts.isPropertySignature(node) ||
  ts.isPropertyDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node) || ts.isGetAccessor(node) || ts.isSetAccessor(node) ||
  ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node) || ts.isTypeParameterDeclaration(node) || ts.isFunctionExpression(node);

function walk(node, visit) { ts.forEachChild(node, (child) => { visit(child); walk(child, visit); }); }

/** Declarations that a path such as `Class.member`, `fn>local` or `*>local` means in a source file. */
export function findDeclarations(sourceFile, path) {
  const parts = path.split(/(?=[.>])/);
  let scopes = [sourceFile];
  let nodes = [];
  for (const [index, part] of parts.entries()) {
    const isLocal = part.startsWith('>');
    const isMember = part.startsWith('.');
    const name = part.replace(/^[.>]/, '');
    if (index === 0 && name === '*') { nodes = [sourceFile]; scopes = nodes; continue; }
    const found = [];
    for (const scope of scopes) {
      if (index === 0) {
        for (const statement of scope.statements) {
          if (ts.isVariableStatement(statement)) {
            for (const d of statement.declarationList.declarations) {
              if (ts.isIdentifier(d.name) && d.name.text === name) found.push(d);
              else if (!ts.isIdentifier(d.name)) walk(d.name, (n) => { if (ts.isBindingElement(n) && ts.isIdentifier(n.name) && n.name.text === name) found.push(n); });
            }
          } else if (statement.name?.text === name) found.push(statement);
        }
      } else if (isLocal) {
        walk(scope, (n) => { if (isDeclaration(n) && nameOf(n)?.text === name && !ts.isPropertyAssignment(n) && !ts.isShorthandPropertyAssignment(n) && !isMemberNode(n)) found.push(n); });
      } else if (isMember) {
        walk(scope, (n) => { if (isMemberNode(n) && nameOf(n)?.text === name) found.push(n); });
      }
    }
    nodes = found; scopes = found;
  }
  return nodes;
}
const isMemberNode = (n) => ts.isPropertySignature(n) || ts.isPropertyDeclaration(n) || ts.isMethodDeclaration(n) || ts.isMethodSignature(n) ||
  ts.isGetAccessor(n) || ts.isSetAccessor(n) || ts.isPropertyAssignment(n) || ts.isShorthandPropertyAssignment(n) ||
  (ts.isParameter(n) && ts.isParameterPropertyDeclaration(n, n.parent));

/**
 * Renames computed on one snapshot. `wanted`: [{ file, path, to, spread }].
 * @returns edits by file, and problems
 */
export function computeRenames(tree, wanted, log) {
  const { service, program, abs, rel } = createService(tree);
  const checker = program.getTypeChecker();
  const edits = new Map(); // file -> Map(start -> {length, local?, prop?, plain?, kind})
  const problems = [];
  const renamedDeclarations = []; // {decl node, old, to}

  const addEdit = (file, start, edit) => {
    if (!edits.has(file)) edits.set(file, new Map());
    const of = edits.get(file);
    const known = of.get(start);
    of.set(start, known ? { ...known, ...edit } : edit);
    if (known && known.plain !== undefined && edit.plain !== undefined && known.plain !== edit.plain) problems.push(`conflict at ${file}:${start}: ${known.plain} / ${edit.plain}`);
  };

  for (const want of wanted) {
    if (!tree.has(want.file)) { problems.push(`no file ${want.file} (for ${want.path} → ${want.to})`); continue; }
    const source = program.getSourceFile(abs(want.file));
    const declarations = findDeclarations(source, want.path);
    if (declarations.length === 0) { if (!want.optional) problems.push(`not found: ${want.file} ${want.path} (→ ${want.to})`); continue; }
    const isProperty = (n) => isMemberNode(n);
    // A name that something else in the file has.
    if (!/[.>]/.test(want.path) && want.to !== want.path && findDeclarations(source, want.to).length > 0 && !wanted.some((w) => w.file === want.file && w.path === want.to && w.to !== w.path)) {
      problems.push(`taken: ${want.file} has a ${want.to} already (for ${want.path})`);
      continue;
    }
    const queue = declarations.map((node) => ({ file: source.fileName, pos: nameOf(node).getStart(), isProp: isProperty(node), node }));
    const seen = new Set();
    while (queue.length > 0) {
      const item = queue.pop();
      const key = `${item.file}:${item.pos}:${item.isProp}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const old = nameOf(item.node)?.text;
      renamedDeclarations.push({ node: item.node, old, to: want.to });
      // A shorthand's own property has no position of its own to start from: leave it to the prefix.
      if (item.isProp && (ts.isShorthandPropertyAssignment(item.node) || ts.isPropertyAssignment(item.node))) {
        // An inferred property: its uses are looked for in its own file.
        const own = item.node.getSourceFile();
        if (ts.isShorthandPropertyAssignment(item.node)) addEdit(rel(own.fileName), item.pos, { length: old.length, short: old, prop: want.to });
        walk(own, (n) => {
          if (!ts.isIdentifier(n) || n.text !== old) return;
          if (ts.isPropertyAccessExpression(n.parent) && n.parent.name === n && checker.getSymbolAtLocation(n)?.declarations?.includes(item.node)) addEdit(rel(own.fileName), n.getStart(), { length: old.length, plain: want.to });
          if (ts.isBindingElement(n.parent) && n.parent.name === n && !n.parent.propertyName && ts.isObjectBindingPattern(n.parent.parent) && checker.getTypeAtLocation(n.parent.parent).getProperty(old)?.declarations?.includes(item.node)) {
            addEdit(rel(own.fileName), n.getStart(), { length: old.length, short: old, prop: want.to });
            queue.push({ file: own.fileName, pos: n.getStart(), isProp: false, node: n.parent });
          }
        });
        if (ts.isShorthandPropertyAssignment(item.node)) continue;
      }
      const locations = service.findRenameLocations(item.file, item.pos, false, false, { providePrefixAndSuffixTextForRename: true }) ?? [];
      if (locations.length === 0) { problems.push(`no locations: ${rel(item.file)}:${item.pos} ${old}`); continue; }
      if (locations.some((l) => /node_modules|\/lib\.[^/]*\.d\.ts$/.test(l.fileName))) { problems.push(`reaches a library: ${want.file} ${want.path} at ${rel(item.file)}:${item.pos}`); continue; }
      for (const location of locations) {
        const file = rel(location.fileName);
        const start = location.textSpan.start;
        const length = location.textSpan.length;
        const sf = program.getSourceFile(location.fileName);
        const node = tokenAt(sf, start);
        const parent = node.parent ?? node;
        const isShort = (ts.isShorthandPropertyAssignment(parent) && parent.name === node) ||
          (ts.isBindingElement(parent) && parent.name === node && !parent.propertyName && ts.isObjectBindingPattern(parent.parent));
        if (!isShort) {
          if (location.prefixText || location.suffixText) {
            addEdit(file, start, { length, plain: `${location.prefixText ?? ''}${want.to}${location.suffixText ?? ''}` });
            continue;
          }
          addEdit(file, start, { length, plain: want.to });
          continue;
        }
        const meansProp = location.suffixText !== undefined ? true : location.prefixText !== undefined ? false : item.isProp;
        addEdit(file, start, { length, short: old, ...(meansProp ? { prop: want.to } : { local: want.to }) });
        if (want.spread === false) continue;
        // The other symbol at this place.
        const other = otherSymbol(checker, parent, meansProp);
        const targets = (other?.declarations ?? []).filter((d) => nameOf(d)?.text === old);
        const usable = targets.length > 0 && targets.every((d) => !/node_modules|lib\./.test(d.getSourceFile().fileName) && !(/\/contract\//.test(d.getSourceFile().fileName) && isMemberNode(d) && !want.wire));
        if (!usable) { if (targets.length > 0) log(`    stops at ${file}: ${old} is ${rel(targets[0].getSourceFile().fileName)}'s`); continue; }
        for (const d of targets) {
          queue.push({ file: d.getSourceFile().fileName, pos: nameOf(d).getStart(), isProp: isMemberNode(d), node: d });
          if (ts.isShorthandPropertyAssignment(d)) addEdit(rel(d.getSourceFile().fileName), nameOf(d).getStart(), { length: old.length, short: old, ...(meansProp ? {} : { prop: want.to }) });
        }
      }
    }
  }
  // Names of properties as types: Pick<Row, 'old'>.
  const byDeclaration = new Map(renamedDeclarations.filter(({ node }) => isMemberNode(node)).map((r) => [r.node, r]));
  if (byDeclaration.size > 0) {
    for (const source of program.getSourceFiles()) {
      const file = rel(source.fileName);
      if (!tree.has(file)) continue;
      walk(source, (node) => {
        if (!ts.isTypeReferenceNode(node) || !/^(Pick|Omit)$/.test(node.typeName.getText()) || !node.typeArguments?.[1]) return;
        const type = checker.getTypeFromTypeNode(node.typeArguments[0]);
        const literals = [];
        const collect = (n) => { if (ts.isLiteralTypeNode(n) && ts.isStringLiteral(n.literal)) literals.push(n.literal); else ts.forEachChild(n, collect); };
        collect(node.typeArguments[1]);
        for (const literal of literals) {
          const hit = (type.getProperty(literal.text)?.declarations ?? []).map((d) => byDeclaration.get(d)).find((r) => r && r.old === literal.text);
          if (hit) addEdit(file, literal.getStart() + 1, { length: literal.text.length, plain: hit.to });
        }
      });
    }
  }
  return { edits, problems };
}

function otherSymbol(checker, parent, meansProp) {
  if (ts.isBindingElement(parent)) {
    if (meansProp) return checker.getSymbolAtLocation(parent.name);
    return checker.getTypeAtLocation(parent.parent).getProperty(parent.name.text);
  }
  if (meansProp) return checker.getShorthandAssignmentValueSymbol(parent);
  const contextual = checker.getContextualType(parent.parent);
  const property = contextual?.getProperty(parent.name.text);
  return property;
}

function tokenAt(sourceFile, pos) {
  let found = sourceFile;
  const visit = (node) => { if (node.getStart(sourceFile, false) <= pos && pos < node.end) { found = node; ts.forEachChild(node, visit); } };
  ts.forEachChild(sourceFile, visit);
  return found;
}

export function applyEdits(tree, edits) {
  let count = 0;
  for (const [file, of] of edits) {
    let text = tree.get(file);
    if (text === undefined) continue;
    const sorted = [...of].sort(([a], [b]) => b - a);
    for (const [start, edit] of sorted) {
      const old = text.slice(start, start + edit.length);
      let put = edit.plain;
      if (edit.short !== undefined) {
        const prop = edit.prop ?? edit.short;
        const local = edit.local ?? edit.short;
        put = prop === local ? prop : `${prop}: ${local}`;
      }
      if (old !== put) { text = text.slice(0, start) + put + text.slice(start + edit.length); count += 1; }
    }
    tree.set(file, text);
  }
  return count;
}

/** Ranges of comments of a source text, those of SQL inside templates included. */
export function commentRanges(text, path = 'x.ts') {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const ranges = new Map();
  const visit = (node) => {
    for (const range of [...(ts.getLeadingCommentRanges(text, node.pos) ?? []), ...(ts.getTrailingCommentRanges(text, node.pos) ?? []), ...(ts.getTrailingCommentRanges(text, node.end) ?? [])]) ranges.set(range.pos, range.end);
    if (ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
      for (const m of node.getText(source).matchAll(/--[^\n]*/g)) ranges.set(node.getStart(source) + m.index, node.getStart(source) + m.index + m[0].length);
    }
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
  // Ranges inside strings or templates are found only for real tokens; overlaps are merged by position.
  return [...ranges].map(([pos, end]) => ({ pos, end })).sort((a, b) => a.pos - b.pos);
}

/** Ranges of the titles of tests: the first string of it() and describe(); all strings of test/coverage/. */
export function titleRanges(text, path) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const ranges = [];
  const all = /^test\/coverage\//.test(path);
  const add = (node) => { ranges.push({ pos: node.getStart(source) + 1, end: node.end - 1 }); };
  const strings = (node) => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) add(node);
    else if (ts.isTemplateExpression(node)) { add(node.head); for (const span of node.templateSpans) add(span.literal); }
    else ts.forEachChild(node, strings);
  };
  const visit = (node) => {
    if (all && (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) && !ts.isImportDeclaration(node.parent)) return add(node);
    if (ts.isCallExpression(node) && /^(it|describe|test)(\.|$)/.test(node.expression.getText(source)) && node.arguments[0]) strings(node.arguments[0]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return ranges.filter((r) => r.end > r.pos).sort((a, b) => a.pos - b.pos);
}

export function replaceInRanges(text, ranges, change) {
  let out = '';
  let at = 0;
  for (const { pos, end } of ranges) {
    if (pos < at) continue;
    out += text.slice(at, pos) + change(text.slice(pos, end));
    at = end;
  }
  return out + text.slice(at);
}
