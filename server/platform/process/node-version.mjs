// This file is loaded before any TypeScript, so that an old Node, which cannot read TypeScript, stops with a clear
// error.
const oldest = 24;
if (Number(process.versions.node.split('.')[0]) < oldest) {
  process.stderr.write(
    `Ownline needs Node ${oldest} or newer, and this is ${process.versions.node}. ` +
      'Run `npm ci` without leaving out optional packages, which brings Node 26 for this folder, or install a newer Node.\n',
  );
  process.exit(1);
}
