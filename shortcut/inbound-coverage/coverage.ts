import { type ReplyGroup, replies, repliesOf } from './replies.ts';

/**
 * The rule by which an automation for messages fires: `content CONTAINS[cd] text` of Foundation ignores case and
 * diacritics.
 */
export function contains(content: string, text: string): boolean {
  return plain(content).includes(plain(text));
}

function plain(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().normalize('NFC');
}

/** Sets of automations, each given by its text of *Message Contains*. */
export const automationSets = {
  space: [' '],
  needed: [' ', 'e', 'o', 'a', 'i'],
  full: [' ', 'e', 'o', 'a', 'i', 'u', 'y'],
  'full and digits': [' ', 'e', 'o', 'a', 'i', 'u', 'y', ...'0123456789'],
  'full, digits, Cyrillic': [' ', 'e', 'o', 'a', 'i', 'u', 'y', ...'0123456789', ...'аоеиу'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type AutomationSet = keyof typeof automationSets;

const automationSetNames = Object.keys(automationSets) as AutomationSet[];

function automationsFor(content: string, set: AutomationSet): readonly string[] {
  return automationSets[set].filter((text) => contains(content, text));
}

export interface CoverageRow {
  readonly group: ReplyGroup;
  readonly count: number;
  /** The percentage of the replies that each set catches, a whole number. */
  readonly percent: Readonly<Record<AutomationSet, number>>;
}

function computeCoverage(): readonly CoverageRow[] {
  return (Object.keys(replies) as ReplyGroup[]).map((group) => {
    const words = repliesOf(group);
    const shares = automationSetNames.map((set) => {
      const caught = words.filter((word) => automationsFor(word, set).length > 0);
      return [set, Math.round((100 * caught.length) / words.length)] as const;
    });
    return { group, count: words.length, percent: Object.fromEntries(shares) as CoverageRow['percent'] };
  });
}

export function missedWords(words: readonly string[], set: AutomationSet): readonly string[] {
  return words.filter((word) => automationsFor(word, set).length === 0);
}

/** Renders the tables of docs/iphone.md. @param optOutWords the opt-out keywords by language */
export function coverageDocument(optOutWords: Readonly<Record<string, readonly string[]>>): string {
  const rows = computeCoverage().map(({ group, count, percent }) => [
    group,
    String(count),
    ...automationSetNames.map((set) => `${percent[set]} %`),
  ]);
  const optOuts = automationSetNames.map((set) => [
    set,
    listed(
      Object.entries(optOutWords).flatMap(([language, words]) =>
        missedWords(words, set).map((word) => `${word} (${language})`),
      ),
      Object.values(optOutWords)
        .flat()
        .filter((word) => !word.includes(' ')).length,
    ),
  ]);
  const missed = (Object.keys(replies) as ReplyGroup[]).map((group) => [
    group,
    listed(missedWords(repliesOf(group), 'full, digits, Cyrillic'), repliesOf(group).length),
  ]);
  return [
    table(['replies of one word', 'count', ...automationSetNames], rows),
    '',
    table(['automations', 'opt-out words that none of them catches'], optOuts),
    '',
    table(['replies of one word', 'missed by all of them'], missed),
  ].join('\n');
}

/** Formats a list of keywords. @param allCount the number of all keywords without a space */
function listed(words: readonly string[], allCount: number): string {
  if (words.length === 0) return 'none';
  return words.length === allCount ? 'all of one word' : words.join(', ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}
