import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '#test/support/processes/spawned-service.ts';

/** A test with the rules of the specification that it covers. */
export interface TaggedTest {
  /** Path below test/. */
  readonly file: string;
  /** Title without its tags. Values inserted at run time are shown as `…`. */
  readonly title: string;
  /** Tags of the test and of the `describe`s around it: `§4.3/order`. */
  readonly tags: readonly string[];
}

const declaration = /^( *)(describe|it|test)\(\s*(['"`])((?:\\.|(?!\3)[\s\S])*)\3/gm;
const tagList = / \((§[^()]+)\)$/;

export function readTests(): TaggedTest[] {
  const folder = join(repository, 'test');
  return globSync('**/*.test.ts', { cwd: folder })
    .sort()
    .flatMap((file) => parseTests(file, readFileSync(join(folder, file), 'utf8')));
}

/** Parses one test file by its indentation: a `describe` ends at the next line that is indented no deeper. */
function parseTests(file: string, source: string): TaggedTest[] {
  const found = [...source.matchAll(declaration)].map((match) => {
    const [whole, indent = '', kind, , text = ''] = match;
    const end = source
      .slice(match.index + whole.length)
      .search(new RegExp(`^ {0,${indent.length}}[})]`, 'm'));
    return {
      kind,
      begin: match.index,
      end: end < 0 ? source.length : match.index + whole.length + end,
      ...splitTitle(text),
    };
  });
  const suites = found.filter(({ kind }) => kind === 'describe');
  return found
    .filter(({ kind }) => kind !== 'describe')
    .map(({ begin, title, tags }) => {
      const around = suites.filter((suite) => suite.begin < begin && begin < suite.end);
      return { file, title, tags: [...new Set([...around.flatMap((suite) => suite.tags), ...tags])] };
    });
}

function splitTitle(source: string): { readonly title: string; readonly tags: readonly string[] } {
  const title = source.replaceAll(/\$\{[^}]*\}/g, '…').replaceAll(/\\(.)/g, '$1');
  const tags = tagList.exec(title)?.[1]?.split(', ') ?? [];
  return { title: title.replace(tagList, ''), tags };
}
