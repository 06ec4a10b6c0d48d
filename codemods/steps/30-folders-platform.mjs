import { moveDeclarations } from '../tool/declarations.mjs';
import { movesOfSlice } from '../tool/sub-folders.mjs';
export default {
  message: 'platform: sort the files into folders: concurrency, time, ids, network and process',
  before(tree, context) {
    void moveDeclarations; void tree; void context;
  },
  movesOf(tree, { problems }) {
    const { moves, unknown } = movesOfSlice(tree, 'server/platform');
    for (const path of unknown) problems.push(`${path} is in no folder of tool/sub-folders.mjs: it stays where it is`);
    return moves;
  },
  text: [
    { files: /^test\/platform\/config\.test\.ts$/, from: /server\/platform\/node-version/g, to: 'server/platform/process/node-version', optional: true },],
  quick: ['test/coverage.test.ts', 'test/docs.test.ts'],
};
