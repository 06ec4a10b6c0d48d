import { readFileSync } from 'node:fs';
const draft = (name) => readFileSync(new URL(`../drafts/${name}`, import.meta.url), 'utf8');
export default {
  message: 'docs: glossary with the words not to use, owners of tables, CONTRIBUTING; the architecture test holds them',
  after(tree, { problems }) {
    tree.set('docs/glossary.md', draft('glossary.md'));
    tree.set('CONTRIBUTING.md', draft('CONTRIBUTING.md'));
    const doc = tree.get('docs/architecture.md');
    if (!doc.includes('## Lock order')) problems.push('docs/architecture.md has no "## Lock order"');
    if (!doc.includes('## Tables and their owners')) tree.set('docs/architecture.md', doc.replace('## Lock order', () => `${draft('owners.md').trim()}\n\n## Lock order`));
    const path = 'test/architecture.test.ts';
    const test = tree.get(path);
    if (!test.includes('the files of the glossary exist')) tree.set(path, test.replace(/\}\);\n$/, () => `\n${draft('architecture-additions.ts')}});\n`));
    const readme = tree.get('README.md');
    const row = '| [docs/decisions](docs/decisions/README.md) |';
    if (!readme.includes('CONTRIBUTING.md')) tree.set('README.md', readme.replace(row, () => `| [CONTRIBUTING.md](CONTRIBUTING.md) | commands, where a change goes, a map of the code |\n${row}`));
  },
  quick: ['test/coverage.test.ts', 'test/docs.test.ts', 'test/architecture.test.ts'],
};
