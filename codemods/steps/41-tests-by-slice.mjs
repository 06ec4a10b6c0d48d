import { isSlow, placeOf } from '../tool/test-layout.mjs';
export default {
  message: 'tests: sort them by slice, and name the slow ones *.slow.test.ts',
  movesOf(tree, { problems }) {
    const moves = {};
    for (const path of tree.all) {
      if (path === 'test/api/v1-promises.txt') { moves[path] = 'test/http/v1-promises.txt'; continue; }
      if (!/^test\/.*\.test\.ts$/.test(path)) continue;
      let to = placeOf(path);
      if (isSlow(path, tree.get(path)) && !to.endsWith('.slow.test.ts')) to = to.replace(/\.test\.ts$/, '.slow.test.ts');
      if (Object.values(moves).includes(to)) problems.push(`${path}: ${to} is taken`);
      else if (to !== path) moves[path] = to;
    }
    return moves;
  },
  text: [
    { files: 'test/referees/run.ts', from: /globSync\('test\/api\/\*\.test\.ts'\)/g, to: "globSync('test/{api-keys,audit,events,http,messages,numbers,teams,usage,webhooks}/*.test.ts')", optional: true },
    { files: /\.(md|ts)$/, from: /`test\/changes\/`/g, to: '`test/dashboard/`', optional: true },
    { files: /\.md$/, from: /`test\/api\/`/g, to: '`test/http/`', optional: true },
    { files: /\.md$/, from: /`test\/device\/`/g, to: '`test/device-protocol/`', optional: true },
  ],
  quick: ['test/coverage.test.ts', 'test/docs.test.ts', 'test/messages/send.test.ts'],
};
