/** Formats lines as a table. The first line has the headings; the first column is aligned left, numbers right. */
export function align(lines: readonly (readonly (string | number)[])[]): string {
  const columns = Math.max(...lines.map((line) => line.length));
  const cells = (column: number) => lines.map((line) => line[column] ?? '');
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...cells(column).map((cell) => String(cell).length)),
  );
  const isText = widths.map((_, column) =>
    cells(column)
      .slice(1)
      .some((cell) => typeof cell === 'string'),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          isText[column]
            ? String(cell).padEnd(widths[column] ?? 0)
            : String(cell).padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Formats rows as a table. @param columns functions that return the cell of a row, by heading */
export function alignColumns<Row>(
  columns: Readonly<Record<string, (row: Row) => string | number>>,
  rows: readonly Row[],
): string {
  const cells = Object.values(columns);
  return align([Object.keys(columns), ...rows.map((row) => cells.map((cell) => cell(row)))]);
}
