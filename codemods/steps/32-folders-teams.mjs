import { moveDeclarations } from '../tool/declarations.mjs';
import { movesOfSlice } from '../tool/sub-folders.mjs';
export default {
  message: 'teams: sort the files into folders: team, members, invitations and acceptance',
  before(tree, context) {
    void moveDeclarations; void tree; void context;
  },
  movesOf(tree, { problems }) {
    const { moves, unknown } = movesOfSlice(tree, 'server/teams');
    for (const path of unknown) problems.push(`${path} is in no folder of tool/sub-folders.mjs: it stays where it is`);
    return moves;
  },
  text: [],
  quick: ['test/coverage.test.ts', 'test/docs.test.ts'],
};
