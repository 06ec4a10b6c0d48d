export default {
  message: 'tests: npm test runs the fast ones, npm run test:all every one, npm test -- teams one slice',
  after(tree, { problems }) {
    const path = 'test/run.ts';
    let text = tree.get(path);
    const edits = [
      [/import \{ globSync \} from 'node:fs';\n/, ''],
      [/import \{ runTests \} from '(#test\/support\/[^']*run-files\.ts)';/, "import { findTestFiles } from '#test/support/runner/find-test-files.ts';\nimport { runTests } from '$1';"],
      [/\/\*\* `npm test`, or `npm test -- [^`]*`\./, "/**\n * `npm test` runs the fast tests, `npm test -- teams` those of a slice, `npm test -- test/messages/send.test.ts` a file.\n * `--all` adds the slow ones, `--slow` takes them alone."],
      [/const files = words\.filter\(\(word\) => !word\.startsWith\('-'\)\);/, "const names = words.filter((word) => !word.startsWith('-'));\nconst kind = words.includes('--all') ? 'all' : words.includes('--slow') ? 'slow' : 'fast';"],
      [/(`--slow` takes them alone\.[^\n]*?) \*\//, '$1\n */'],
      [/word\.startsWith\('-'\) && !readLimit\(word\)/, "word.startsWith('-') && !readLimit(word) && !/^--(all|slow)$/.test(word)"],
      [/const found = files\.length > 0 \? files : globSync\('test\/\*\*\/\*\.test\.ts'\)\.sort\(\);/, 'const found = findTestFiles(names, kind);'],
    ];
    for (const [from, to] of edits) {
      if (!from.test(text)) problems.push(`test/run.ts: ${from} not found`);
      text = text.replace(from, to);
    }
    tree.set(path, text);
    tree.set('test/support/runner/find-test-files.ts', `import { existsSync, globSync } from 'node:fs';

export type Kind = 'fast' | 'slow' | 'all';

/**
 * The files of a run. Slow tests are named \`*.slow.test.ts\`: bounds at size, kills, browsers, processes of their own.
 * @param names slices such as \`teams\`, or paths of files, which run whatever their kind; none: every slice
 * @throws where a name is neither
 */
export function findTestFiles(names: readonly string[], kind: Kind): string[] {
  if (names.length === 0) return ofKind('test/**/*.test.ts', kind);
  const files = names.flatMap((name) => {
    if (name.endsWith('.ts') || name.endsWith('.mjs')) return [name];
    const folder = \`test/\${name.replace(/^test\\//, '').replace(/\\/$/, '')}\`;
    const found = existsSync(folder) ? ofKind(\`\${folder}/**/*.test.ts\`, kind) : [];
    if (found.length === 0) throw new Error(\`\${name} is no test file, and no slice with \${kind === 'all' ? '' : \`\${kind} \`}tests below test/.\`);
    return found;
  });
  return [...new Set(files)];
}

function ofKind(pattern: string, kind: Kind): string[] {
  return globSync(pattern)
    .filter((file) => kind === 'all' || file.endsWith('.slow.test.ts') === (kind === 'slow'))
    .sort();
}
`);
    tree.set('test/run.test.ts', `import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, it } from 'node:test';
import { findTestFiles } from '#test/support/runner/find-test-files.ts';

const all = globSync('test/**/*.test.ts').sort();
const isSlow = (file: string) => file.endsWith('.slow.test.ts');

describe('the files of a test run (docs/testing.md)', () => {
  it('are the fast ones, the slow ones or all; no file is in neither', () => {
    assert.deepEqual(findTestFiles([], 'all'), all);
    assert.deepEqual([...findTestFiles([], 'fast'), ...findTestFiles([], 'slow')].sort(), all);
    assert.ok(findTestFiles([], 'slow').every(isSlow) && findTestFiles([], 'slow').length > 10);
    assert.ok(!findTestFiles([], 'fast').some(isSlow));
  });

  it('are those of a slice, or a file whatever its kind', () => {
    const ofTeams = all.filter((file) => file.startsWith('test/teams/'));
    assert.deepEqual(findTestFiles(['teams'], 'all'), ofTeams);
    assert.deepEqual(findTestFiles(['teams'], 'fast'), ofTeams.filter((file) => !isSlow(file)));
    const slow = all.find(isSlow) ?? '';
    assert.deepEqual(findTestFiles([slow], 'fast'), [slow]);
  });

  it('a name that is no slice and no file is refused', () => {
    assert.throws(() => findTestFiles(['temas'], 'fast'), /temas is no test file, and no slice/);
  });
});
`);
    const pkg = JSON.parse(tree.get('package.json'));
    const scripts = {};
    for (const [name, command] of Object.entries(pkg.scripts)) {
      scripts[name] = command;
      if (name === 'start') scripts.dev = 'exec node --watch --import ./server/platform/process/node-version.mjs server/main.ts';
      if (name === 'test') { scripts['test:all'] = 'node test/run.ts --all'; scripts['test:slow'] = 'node test/run.ts --slow'; }
    }
    pkg.scripts = scripts;
    tree.set('package.json', `${JSON.stringify(pkg, null, 2)}\n`);
    // docs/testing.md: the commands and the folders.
    let doc = tree.get('docs/testing.md');
    const rows = [
      [/^\| `npm test` \| everything in `test\/`, on one real PostgreSQL, a database per file \| [^|]+ \|$/m, '| `npm test` | the fast tests of every slice, on one real PostgreSQL, a database per file | 2 minutes |\n| `npm run test:all` | the slow ones too, named `*.slow.test.ts`: bounds at size, kills, browsers, processes of their own | 8 minutes |\n| `npm run test:slow` | the slow ones alone | 6 minutes |\n| `npm test -- teams` | the fast tests of one slice | 15 s |'],
      [/^\| `npm test -- test\/browser\/\*[^|]*\| [^|]+ \| [^|]+ \|$/m, '| `npm test -- --slow browser` | the pages in a browser | 20 s |'],
      [/^\| `test\/(api|http)\/` \|.*$/m, '| `test/<slice>/` | the slice of that name: endpoints, rules, loops; `*.slow.test.ts` beside the fast ones |\n| `test/http/` | the router, bodies, headers, access: everything that answers share |'],
      [/^\| `test\/device(-protocol)?\/` \|.*\n/m, ''], [/^\| `test\/messages\/` \|.*\n/m, ''], [/^\| `test\/(changes|dashboard)\/` \|.*\n/m, ''],
      [/the tests in `test\/(api|http)\/` once more/, 'the tests of the API once more'],
    ];
    for (const [from, to] of rows) { if (!from.test(doc)) problems.push(`docs/testing.md: ${from} not found`); doc = doc.replace(from, to); }
    tree.set('docs/testing.md', doc);
    const ci = tree.get('.ci/run');
    if (!/test:slow/.test(ci)) tree.set('.ci/run', ci.replace(/npm test\s*$/, 'npm test\nnpm run test:slow\n').replace("the README's test command, then the static checks", "the static checks, the README's test command, then the slow tests"));
  },
  quick: ['test/coverage.test.ts', 'test/docs.test.ts', 'test/run.test.ts'],
};
