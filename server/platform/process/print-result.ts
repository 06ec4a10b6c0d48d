/** Prints a result: one JSON value with --json, otherwise a line per field, or a table for a list. */
export function printResult(result: object, json: boolean): void {
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else
    process.stdout.write(`${(Array.isArray(result) ? tableLines(result) : fieldLines(result)).join('\n')}\n`);
}

function fieldLines(result: object): string[] {
  const width = Math.max(...Object.keys(result).map((name) => name.length));
  return Object.entries(result).map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`.trimEnd());
}

function tableLines(rows: readonly object[]): string[] {
  const [first] = rows;
  if (!first) return ['none'];
  const lines = [
    Object.keys(first),
    ...rows.map((row) => Object.values(row).map((value) => cellText(value))),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((text, column) => text.padEnd(widths?.[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.join(', ') : String(value);
}
