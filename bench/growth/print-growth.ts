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

const columnWidth = 11;

/** Prints MB for 100,000 messages by table, each followed by its indexes. */
export function printGrowth({ messages, before, after, rewritten }: Growth): void {
  const scale = 100_000 / messages / 1e6;
  const mb = (bytes: number) => (bytes * scale).toFixed(1).padStart(columnWidth);
  const line = (name: string, bytes: readonly number[], inPlace?: number | null) => {
    const share = inPlace == null ? '' : `${Math.round(inPlace * 100)} %`.padStart(columnWidth);
    process.stdout.write(`${name.padEnd(32)}${bytes.map(mb).join('')}${share}\n`);
  };
  const title = (text: string) => text.padStart(columnWidth);
  process.stdout.write(
    `${'MB for 100,000 messages'.padEnd(32)}${['total', 'rows', 'indexes', 'rewritten', 'rows', 'indexes', 'in place'].map(title).join('')}\n`,
  );
  const totals = [0, 0, 0, 0, 0, 0];
  const tables = [...after.tables.values()].map(({ name, heap, indexes, in_place }) => {
    const was = before.tables.get(name);
    const is = rewritten.tables.get(name);
    const grown = [heap - (was?.heap ?? 0), indexes - (was?.indexes ?? 0)] as const;
    const packed = [(is?.heap ?? 0) - (was?.heap ?? 0), (is?.indexes ?? 0) - (was?.indexes ?? 0)] as const;
    return {
      name,
      inPlace: in_place,
      bytes: [grown[0] + grown[1], ...grown, packed[0] + packed[1], ...packed],
    };
  });
  for (const { name, bytes, inPlace } of tables.sort(
    (left, right) => (right.bytes[0] ?? 0) - (left.bytes[0] ?? 0),
  )) {
    bytes.forEach((value, index) => {
      totals[index] = (totals[index] ?? 0) + value;
    });
    if ((bytes[0] ?? 0) < shownBytesMin) continue;
    line(name, bytes, inPlace);
    for (const index of after.indexes.values()) {
      if (index.table !== name) continue;
      const was = before.indexes.get(index.name)?.bytes ?? 0;
      const grown = index.bytes - was;
      const packed = (rewritten.indexes.get(index.name)?.bytes ?? 0) - was;
      if (grown >= shownBytesMin) {
        process.stdout.write(
          `  ${index.name.padEnd(30)}${' '.repeat(2 * columnWidth)}${mb(grown)}${' '.repeat(2 * columnWidth)}${mb(packed)}\n`,
        );
      }
    }
  }
  line('all', totals);
}
