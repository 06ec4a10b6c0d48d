X
const root = process.argv[2];
const globs = (process.argv[3] ?? 'server,contract').split(',');
const t=Date.now();
const project = new Project({ tsConfigFilePath: `${root}/tsconfig.json` });
console.error('loaded', Date.now()-t, project.getSourceFiles().length);
const rel = (f)=>f.getFilePath().slice(root.length+1);
const short = (d)=>{ const j=d.getJsDocs?.()?.[0]?.getDescription?.()?.trim()?.replace(/\s+/g,' ')??''; return j.length>110? j.slice(0,110)+'…':j; };
for (const f of project.getSourceFiles().sort((a,b)=>rel(a)<rel(b)?-1:1)) {
  const p = rel(f); if (!globs.some(g=>p.startsWith(g+'/'))) continue;
  console.log(`## ${p} (${f.getEndLineNumber()})`);
  for (const s of f.getStatements()) {
    const exp = s.isExported?.() ? '+':' ';
    const k = s.getKindName();
    if (k==='VariableStatement') for (const d of s.getDeclarations()) console.log(` ${exp} const ${d.getName()}  — ${short(s)}`);
    else if (k==='FunctionDeclaration') console.log(` ${exp} fn ${s.getName()}(${s.getParameters().map(p=>p.getName()).join(', ')})  — ${short(s)}`);
    else if (k==='ClassDeclaration') { console.log(` ${exp} class ${s.getName()}  — ${short(s)}`); for (const m of s.getMembers()) console.log(`      .${m.getName?.()??'constructor'}`); }
    else if (k==='InterfaceDeclaration') { console.log(` ${exp} interface ${s.getName()} {${s.getMembers().map(m=>m.getName?.()).join(', ')}} — ${short(s)}`);}
    else if (k==='TypeAliasDeclaration') console.log(` ${exp} type ${s.getName()} = ${s.getTypeNode().getText().replace(/\s+/g,' ').slice(0,160)} — ${short(s)}`);
  }
}
