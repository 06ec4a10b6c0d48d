/** One rule of docs/specification.md: a row of a table, a bullet or a paragraph. */
export interface SpecificationRow {
  readonly section: string;
  /** Section and first words, unique: `2.5 last_seen_at`. */
  readonly key: string;
  /** The beginning of the rule, without Markdown. */
  readonly rule: string;
}

/** The sections whose every row has tests. */
const sections = /^(?:[2-9]|12)(?:\.|$)/;
const plannedMark = '*(planned)*';
const keyWords = 4;
const ruleCharacters = 90;

/** The rows of the sections that promise something, without what is planned. */
export function readRows(specification: string): SpecificationRow[] {
  return specification.split(/^##+ /m).flatMap((part) => {
    const [heading = '', ...lines] = part.split('\n');
    const section = heading.split(' ')[0] ?? '';
    if (!sections.test(section) || heading.includes(plannedMark)) return [];
    const blocks = lines.join('\n').split(/\n{2,}/);
    return blocks.flatMap((block) => readBlock(block.trim())).map((cells) => toRow(section, cells));
  });
}

/** What a row says, in parts: the first words of the first `named` of them name it. */
interface Parts {
  readonly cells: readonly string[];
  readonly named: number;
}

function readBlock(block: string): Parts[] {
  if (block === '') return [];
  if (block.startsWith('|')) return readTable(block);
  const texts = block.startsWith('- ') ? block.slice(2).split(/\n- /) : [block];
  return texts.map((text) => ({ cells: [plain(text)], named: 1 }));
}

/** A row is named by its first cell, in a table where that is not unique by its first two. */
function readTable(block: string): Parts[] {
  const rows = block
    .split('\n')
    .slice(2)
    .filter((line) => !isPlanned(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map(plain),
    );
  const named = new Set(rows.map(([first]) => first)).size === rows.length ? 1 : 2;
  return rows.map((cells) => ({ cells, named }));
}

/** Where a comma follows the mark, only what stands before it is planned. */
function isPlanned(line: string): boolean {
  return line.replaceAll(`${plannedMark},`, '').includes(plannedMark);
}

function plain(markdown: string): string {
  return markdown.replaceAll(/\s+/g, ' ').replaceAll(/[`*]/g, '').replaceAll('\\|', '|').trim();
}

function toRow(section: string, { cells, named }: Parts): SpecificationRow {
  const names = cells.slice(0, named).filter((cell) => cell !== '');
  const words = names.map((name) => name.split(' ').slice(0, keyWords).join(' '));
  return {
    section,
    key: `${section} ${words.join(': ').replace(/[^\w)}]+$/, '')}`,
    rule: cut(cells.filter((cell) => cell !== '').join(' · ')),
  };
}

function cut(text: string): string {
  if (text.length <= ruleCharacters) return text;
  return `${text.slice(0, text.lastIndexOf(' ', ruleCharacters))} …`;
}
