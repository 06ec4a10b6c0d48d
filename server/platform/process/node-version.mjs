// This file is loaded before any TypeScript, so that an old Node, which cannot read TypeScript, stops with a clear
// error.
const oldest = 24;
if (Number(process.versions.node.split('.')[0]) < oldest) {
  process.stderr.write(
    `Ownline needs Node ${oldest} or newer, and this is ${process.versions.node}. ` +
      'Install Ownline again, without --omit=optional: it brings its own Node. Or install a newer Node.\n',
  );
  process.exit(1);
}
