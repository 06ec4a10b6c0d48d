import { moveDeclarations } from '../tool/declarations.mjs';
import { movesOfSlice } from '../tool/sub-folders.mjs';
export default {
  message: 'accounts: sort the files into folders: account, sessions, throttling, magic-links, passwords, passkeys and sign-in',
  before(tree, context) {
    moveDeclarations(tree, 'server/accounts/account-view.ts', ['sessionView'], 'server/accounts/session-view.ts', context);
    if (tree.has('server/accounts/sign-in-hints.ts')) moveDeclarations(tree, 'server/accounts/relying-party.ts', ['supportsPasskeys'], 'server/accounts/sign-in-hints.ts', context);
    void moveDeclarations; void tree; void context;
  },
  movesOf(tree, { problems }) {
    const { moves, unknown } = movesOfSlice(tree, 'server/accounts');
    for (const path of unknown) problems.push(`${path} is in no folder of tool/sub-folders.mjs: it stays where it is`);
    return moves;
  },
  text: [],
  quick: ['test/coverage.test.ts', 'test/docs.test.ts'],
};
