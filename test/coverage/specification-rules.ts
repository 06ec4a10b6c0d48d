import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '#test/support/processes/spawned-service.ts';

/** Both pages of the specification. Section 11, but for 11.8, is the second one. */
const pages = ['docs/specification.md', 'docs/device-protocol.md'];

/** One rule of the specification: a row of a table, a bullet or a paragraph. */
export interface Rule {
  /** Section and name, as tests cite them: `§4.3/order`. Without a name the tag ends with the slash: `§4.3/`. */
  readonly tag: string;
  /** The beginning of the rule, without Markdown. */
  readonly text: string;
}

/** Sections in which every rule has a name and tests. */
const sections = /^(?:(?:[2-9]|12)(?:\.|$)|10\.(?:[7-9]|10)$|11\.(?:8|11)$)/;
const plannedMark = '*(planned)*';
const nameMark = /\s*<!-- ([a-z0-9-]+) -->/;
const textCharacters = 90;

/** Reads both pages as one text. */
export function readSpecification(): string {
  return pages.map((page) => readFileSync(join(repository, page), 'utf8')).join('\n');
}

/** Reads the rules of `sections`, except planned ones. */
export function readRules(): Rule[] {
  return readSpecification()
    .split(/^#+ /m)
    .flatMap((part) => {
      const [heading = '', ...lines] = part.split('\n');
      const section = heading.split(' ')[0] ?? '';
      if (!sections.test(section) || heading.includes(plannedMark)) return [];
      const blocks = lines.join('\n').split(/\n{2,}/);
      return blocks.flatMap((block) => splitBlock(block.trim())).map((source) => toRule(section, source));
    });
}

/** Splits a table into its rows and a list into its bullets. A paragraph is one rule. */
function splitBlock(block: string): string[] {
  if (block === '') return [];
  if (block.startsWith('|'))
    return block
      .split('\n')
      .slice(2)
      .filter((line) => !isPlanned(line));
  return block.startsWith('- ') ? block.slice(2).split(/\n- /) : [block];
}

/** True if the whole rule is planned. `*(planned)*,` marks only the words before it. */
function isPlanned(line: string): boolean {
  return line.replaceAll(`${plannedMark},`, '').includes(plannedMark);
}

function toRule(section: string, source: string): Rule {
  const name = nameMark.exec(source)?.[1] ?? '';
  const text = source.replace(nameMark, '');
  const cells = text.startsWith('|') ? text.split(/(?<!\\)\|/).slice(1, -1) : [text];
  return {
    tag: `§${section}/${name}`,
    text: shortened(
      cells
        .map(plain)
        .filter((cell) => cell !== '')
        .join(' · '),
    ),
  };
}

function plain(markdown: string): string {
  return markdown.replaceAll(/\s+/g, ' ').replaceAll(/[`*]/g, '').replaceAll('\\|', '|').trim();
}

function shortened(text: string): string {
  if (text.length <= textCharacters) return text;
  return `${text.slice(0, text.lastIndexOf(' ', textCharacters))} …`;
}
