// node tool/names.mjs <checkout>: files, exports and members whose names hold a banned word.
import { Tree } from './tree.mjs';
import { ts } from './service.mjs';
const tree = new Tree(process.argv[2]);
const banned = /(^|[^a-z])(doors?|knock|soon|turns?|press(ed)?|places?|placed|unplaced|give ?back|given back|forget|forgotten|hands?|told|tell|lots?|nobody|somebody|everybody|whoever|home|laps?|asked|ask|look|looks|hold|held|walk|walked)([^a-z]|$)/;
const words = (name) => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_#-]/g, ' ').toLowerCase();
for (const path of tree.ts().filter((p) => /^(server|contract)\//.test(p))) {
  const found = [];
  const file = path.split('/').pop().replace(/\.ts$/, '');
  if (banned.test(words(file))) found.push(`file ${file}`);
  const s = ts.createSourceFile(path, tree.get(path), 99, true);
  for (const st of s.statements) {
    const isExport = st.modifiers?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword);
    const names = ts.isVariableStatement(st) ? st.declarationList.declarations.map((d) => d.name.getText(s)) : st.name ? [st.name.text] : [];
    for (const n of names) if (banned.test(words(n))) found.push(`${isExport ? 'export' : 'local'} ${n}`);
    for (const m of st.members ?? []) { const n = m.name?.getText(s); if (n && banned.test(words(n))) found.push(`member ${names[0]}.${n}`); }
  }
  if (found.length) console.log(`${path}: ${found.join(', ')}`);
}
