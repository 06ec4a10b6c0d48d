import { align } from '#campaign/align.ts';
import type { Sizes } from './table-sizes.ts';

interface Growth {
  readonly messages: number;
  readonly before: Sizes;
  readonly after: Sizes;
  /** Sizes of the same rows after a rewrite without dead rows. */
  readonly rewritten: Sizes;
}

/** Tables and indexes that grew by fewer bytes are not printed. */
const shownBytesMin = 100_000;

const headings = [
  ...['MB for 100,000 messages', 'total', 'rows', 'indexes', 'rewritten', 'rows', 'indexes', 'in place'],
];

/** Prints MB for 100,000 messages by table, each followed by its indexes. */
export function printGrowth({ messages, before, after, rewritten }: Growth): void {
  const mb = (bytes: number) => ((bytes * 100_000) / messages / 1e6).toFixed(1);
  const grown = (sizes: Sizes, name: string) => {
    const [is, was] = [sizes.tables.get(name), before.tables.get(name)];
    const [heap, indexes] = [(is?.heap ?? 0) - (was?.heap ?? 0), (is?.indexes ?? 0) - (was?.indexes ?? 0)];
    return [heap + indexes, heap, indexes];
  };
  const grownIndex = (sizes: Sizes, name: string) =>
    (sizes.indexes.get(name)?.bytes ?? 0) - (before.indexes.get(name)?.bytes ?? 0);
  const indexesOf = (table: string) =>
    [...after.indexes.values()]
      .filter((index) => index.table === table && grownIndex(after, index.name) >= shownBytesMin)
      .map(({ name }) => [
        ...[`  ${name}`, '', '', mb(grownIndex(after, name))],
        ...['', '', mb(grownIndex(rewritten, name))],
      ]);
  const tables = [...after.tables.values()].map(({ name, in_place }) => ({
    name,
    bytes: [...grown(after, name), ...grown(rewritten, name)],
    inPlace: in_place === null ? '' : `${Math.round(in_place * 100)} %`,
  }));
  const totals = [0, 1, 2, 3, 4, 5].map((column) =>
    tables.reduce((sum, { bytes }) => sum + (bytes[column] ?? 0), 0),
  );
  const lines = tables
    .toSorted((left, right) => (right.bytes[0] ?? 0) - (left.bytes[0] ?? 0))
    .filter(({ bytes }) => (bytes[0] ?? 0) >= shownBytesMin)
    .flatMap(({ name, bytes, inPlace }) => [[name, ...bytes.map(mb), inPlace], ...indexesOf(name)]);
  process.stdout.write(`${align([headings, ...lines, ['all', ...totals.map(mb)]])}\n`);
}
