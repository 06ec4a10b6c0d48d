import { support, supportNames } from '../tool/test-layout.mjs';
export default {
  message: 'tests: sort the support files into folders, with names that can be told apart',
  movesOf(tree, { problems }) {
    const moves = {};
    for (const path of tree.all) {
      const [, name] = /^test\/support\/([^/]+)\.ts$/.exec(path) ?? [];
      if (!name) continue;
      const folder = Object.keys(support).find((f) => support[f].includes(name));
      if (!folder) { problems.push(`${path} is in no folder of tool/test-layout.mjs: put into service/`); }
      moves[path] = `test/support/${folder ?? 'service'}/${supportNames[name] ?? name}.ts`;
    }
    return moves;
  },
  quick: ['test/coverage.test.ts', 'test/docs.test.ts', 'test/api/send.test.ts'],
};
