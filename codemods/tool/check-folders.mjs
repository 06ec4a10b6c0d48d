// node tool/check-folders.mjs <checkout>: imports that would go against the order of sub-folders.
import { dirname, join, normalize } from 'node:path';
import { Tree } from './tree.mjs';
import { movesOfSlice, subFolders } from './sub-folders.mjs';
const tree = new Tree(process.argv[2]);
for (const slice of Object.keys(subFolders)) {
  const { moves, unknown } = movesOfSlice(tree, slice);
  const { order } = subFolders[slice];
  const folderOf = (p) => (moves[p] ?? p).slice(slice.length + 1).split('/')[0];
  console.log(`== ${slice}${unknown.length ? ` UNASSIGNED: ${unknown.join(' ')}` : ''}`);
  for (const path of tree.ts().filter((p) => p.startsWith(`${slice}/`))) {
    for (const [, spec] of tree.get(path).matchAll(/from '([#.][^']+)'/g)) {
      const target = spec.startsWith('#') ? spec.slice(1) : normalize(join(dirname(path), spec));
      if (!target.startsWith(`${slice}/`)) continue;
      const [a, b] = [folderOf(path), folderOf(target)];
      if (a === b) continue;
      const [i, j] = [order.indexOf(a), order.indexOf(b)];
      if (j > i && i >= 0) console.log(`  up: ${a}/${path.split('/').pop()} → ${b}/${target.split('/').pop()}`);
      if (i < 0 && j >= 0) console.log(`  root file looks into a folder: ${path.split('/').pop()} → ${b}/${target.split('/').pop()}`);
    }
  }
}
