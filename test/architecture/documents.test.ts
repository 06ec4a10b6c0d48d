import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { schemaFiles } from '#server/database/table-declaration.ts';
import { readSpecification } from '#test/coverage/specification-rules.ts';
import { columnDeclaration, files, root } from '#test/support/architecture/sources.ts';
import { assertEach, assertNone } from '#test/support/service/assert-each.ts';

describe('the rules for citations and names (docs/architecture.md)', () => {
  it('every section that a comment or a test cites is in the specification', () => {
    const headings = new Set(
      [...readSpecification().matchAll(/^#+ (\d+(?:\.\d+)*)\.? /gm)].map((match) => match[1]),
    );
    const cited = globSync('{contract,server,shortcut,simulated-phone,webhook-listener,test}/**/*.ts', {
      cwd: root,
    }).flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return [
        ...text.matchAll(/specification\s+(?:\*\s+)?sections?\s+(\d+(?:\.\d+)*)(?: and (\d+(?:\.\d+)*))?/g),
      ].flatMap((match) =>
        [match[1], match[2]].flatMap((section) => (section === undefined ? [] : [{ path, section }])),
      );
    });
    assert.ok(cited.length > 20);
    const missing = cited.filter(({ section }) => !headings.has(section));
    assertEach(missing, ({ path, section }) => `${path} cites ${section}`, []);
  });

  it('every decision that code or a document cites is in docs/decisions', () => {
    const cited = globSync('{bench,contract,docs,release,server,test,web}/**/*.{md,sql,ts,tsx}', {
      cwd: root,
      exclude: (name) => /(?:^|\/)(?:node_modules|dist)$/.test(name),
    }).flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/(?<=decisions? (?:\d{4} and )?)\d{4}/g)].map(
        ([number]) => number,
      ),
    );
    assert.ok(cited.length > 100);
    const missing = [...new Set(cited)].filter(
      (n) => globSync(`docs/decisions/${n}-*.md`, { cwd: root }).length !== 1,
    );
    assert.deepEqual(missing, []);
    assert.ok(existsSync(join(root, 'docs/decisions/dependencies.md')));
  });

  it('a decision has at most 2 KB', () => {
    const decisions = globSync('docs/decisions/0*.md', { cwd: root });
    assert.ok(decisions.length > 40);
    assertNone(decisions, (path) => statSync(join(root, path)).size > 2_048);
  });

  it('each term of the glossary is used in the files it names or in another document, and no name has a ruled-out word', () => {
    const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8');
    const rows = [...glossary.matchAll(/^\|([^|]+)\|([^|]+)\|([^|]*)\|([^|]*)\|$/gm)].filter(
      ([, term = '']) => !/^ term $|^-+$/.test(term),
    );
    assert.ok(rows.length > 60);
    const terms = rows.map(([, term = '']) => term.trim());
    assertNone(terms, (term, index) => terms.indexOf(term) < index, 'terms that are listed twice');
    const paths = rows.flatMap(([, , , , where = '']) =>
      [...where.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
    );
    assertNone(paths, (path) => !existsSync(join(root, path)), 'files that are not there');
    // Replaces hyphens and line breaks by spaces, so that `slow-reader` matches the term `slow reader`.
    const plain = (text: string) => text.toLowerCase().replaceAll(/[\s*-]+/g, ' ');
    const commentsOf = (path: string) =>
      plain(
        readFileSync(join(root, path), 'utf8')
          .match(/\/\*[\s\S]*?\*\/|\/\/.*$/gm)
          ?.join('\n') ?? '',
      );
    const documents = plain(
      globSync('docs/**/*.md', { cwd: root })
        .filter((path) => path !== 'docs/glossary.md')
        .map((path) => readFileSync(join(root, path), 'utf8'))
        .join('\n'),
    );
    const unsaid = rows.flatMap(([, term = '', , , where = '']) => [
      ...[...where.matchAll(/`([^`]+\.ts)`/g)]
        .filter(([, path = '']) => !commentsOf(path).includes(plain(term.trim())))
        .map(([, path]) => `a comment of ${path} does not say "${term.trim()}"`),
      ...(where.includes('.ts`') || documents.includes(plain(term.trim()))
        ? []
        : [`no document but the glossary says "${term.trim()}"`]),
    ]);
    assert.deepEqual(unsaid, []);
    const banned = rows
      .flatMap(([, , , not = '']) => not.split(',').map((word) => word.trim()))
      .filter(Boolean);
    assert.ok(banned.length > 8);
    // Matches whole words, singular and plural, so `hand-out` does not match `hand`.
    const rule = new RegExp(`(?<![a-z])(${[...new Set(banned)].join('|')})(s|ed)?(?![a-z])(?! out)`);
    const words = (name: string) =>
      name
        .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
        .replaceAll(/[_#.-]/g, ' ')
        .toLowerCase();
    const exported = /^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm;
    const named = files.flatMap(({ path, text }) => [
      { name: basename(path, '.ts'), path },
      ...[...text.matchAll(exported)].map((match) => ({ name: match[1] ?? '', path })),
    ]);
    const schema = schemaFiles.join('\n');
    const columns = [...schema.matchAll(columnDeclaration)];
    assert.ok(columns.length > 200);
    const all = [...named, ...columns.map((match) => ({ name: match[1] ?? '', path: 'a column' }))];
    assertEach(
      all.filter(({ name }) => rule.test(words(name))),
      ({ name, path }) => `${path}: ${name}`,
      [],
      'names that are ruled out',
    );
  });
});
