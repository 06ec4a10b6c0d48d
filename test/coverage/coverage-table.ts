import type { SpecificationRow } from './specification-rows.ts';

/** The tests that fail where a rule is changed: their titles, by file below test/. */
export type Tests = Readonly<Record<string, readonly string[]>>;
/** The tests of each row of the specification, by the row's key. */
export type Coverage = Readonly<Record<string, Tests>>;

const [begin, end] = ['<!-- written by npm run docs -->', '<!-- end of what npm run docs writes -->'];

/** The table of rules and their tests, in Markdown. */
function coverageTable(rows: readonly SpecificationRow[], coverage: Coverage): string {
  const lines = rows.map(({ section, key, rule }) => {
    const tests = Object.entries(coverage[key] ?? {}).map(
      ([file, titles]) => `\`${file}\`: ${titles.map(escaped).join('; ')}`,
    );
    return `| ${section} | ${escaped(rule)} | ${tests.join('<br>')} |`;
  });
  return ['| section | rule | tests, below `test/` |', '|---|---|---|', ...lines].join('\n');
}

/** Text that Markdown shows as it is. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*<>|[\]]/g, '\\$&');
}

/** The document with the table between its two marks. */
export function withTable(document: string, rows: readonly SpecificationRow[], coverage: Coverage): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/testing.md has lost its marks: ${begin} and ${end}`);
  const table = coverageTable(rows, coverage);
  return `${document.slice(0, from)}${begin}\n\n${table}\n\n${document.slice(to)}`;
}

/** What is wrong with the table, a sentence each. */
export function coverageProblems(
  rows: readonly SpecificationRow[],
  coverage: Coverage,
  titles: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const keys = new Set(rows.map((row) => row.key));
  const untested = [...keys].filter((key) => Object.values(coverage[key] ?? {}).flat().length === 0);
  const gone = Object.keys(coverage).filter((key) => !keys.has(key));
  const missing = Object.entries(coverage).flatMap(([key, tests]) =>
    Object.entries(tests).flatMap(([file, named]) =>
      named
        .filter((title) => !titles.get(file)?.has(title))
        .map((title) => `${key}: test/${file} has no test "${title}"`),
    ),
  );
  return [
    ...(keys.size < rows.length ? ['two rows of the specification begin alike'] : []),
    ...untested.map((key) => `${key}: no test`),
    ...gone.map((key) => `${key}: no such row in docs/specification.md`),
    ...missing,
  ];
}
