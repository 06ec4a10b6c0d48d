import { moveDeclarations } from '../tool/declarations.mjs';
import { movesOfSlice } from '../tool/sub-folders.mjs';
export default {
  message: 'webhooks: sort the files into folders: queue, endpoints, deliveries and dispatch',
  before(tree, context) {
    void moveDeclarations; void tree; void context;
  },
  movesOf(tree, { problems }) {
    const { moves, unknown } = movesOfSlice(tree, 'server/webhooks');
    for (const path of unknown) problems.push(`${path} is in no folder of tool/sub-folders.mjs: it stays where it is`);
    return moves;
  },
  text: [],
  quick: ['test/coverage.test.ts', 'test/docs.test.ts'],
};
