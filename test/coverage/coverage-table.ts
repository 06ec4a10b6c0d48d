import type { Rule } from './specification-rules.ts';
import type { TaggedTest } from './tagged-tests.ts';

const introduction = `# Rules and their tests

Written by \`npm run docs -- coverage\` from the titles of the tests (docs/testing.md has the form of their tags). A rule is a table
row, bullet or paragraph of docs/specification.md; its tests fail if it is changed. Files are below \`test/\`;
\`…\` in a title is inserted at run time.
`;

/** The table of rules and their tests, in Markdown. */
export function coverageDocument(rules: readonly Rule[], tests: readonly TaggedTest[]): string {
  const lines = rules.map(({ tag, text }) => {
    const files = Map.groupBy(
      tests.filter(({ tags }) => tags.includes(tag)),
      ({ file }) => file,
    );
    const cells = [...files].map(([file, held]) => {
      const titles = [...new Set(held.map(({ title }) => escaped(title)))];
      return `\`${file}\`: ${titles.join('; ')}`;
    });
    return `| ${tag} | ${escaped(text)} | ${cells.join('<br>')} |`;
  });
  return [introduction, '| rule | text | tests |', '|---|---|---|', ...lines, ''].join('\n');
}

/** Escapes the characters with a meaning in Markdown. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*<>|[\]]/g, '\\$&');
}

/** Lists problems as sentences: rules without a name or a test, names that occur twice, and tags that no rule has. */
export function coverageProblems(rules: readonly Rule[], tests: readonly TaggedTest[]): string[] {
  const tags = rules.map(({ tag }) => tag);
  const held = new Set(tests.flatMap((test) => test.tags));
  return [
    ...rules.filter(({ tag }) => tag.endsWith('/')).map(({ tag, text }) => `${tag} has no name: ${text}`),
    ...tags
      .filter((tag, index) => tags.indexOf(tag) < index)
      .map((tag) => `${tag}: two rules have this name`),
    ...tags.filter((tag) => !tag.endsWith('/') && !held.has(tag)).map((tag) => `${tag} has no test`),
    ...tests.flatMap(({ file, title, tags: named }) =>
      named
        .filter((tag) => !tags.includes(tag))
        .map((tag) => `test/${file}: "${title}" names ${tag}, which no rule has`),
    ),
    ...tests
      .filter(({ title }) => title.includes('§'))
      .map(({ file, title }) => `test/${file}: "${title}" has § outside the list of tags at its end`),
  ];
}
