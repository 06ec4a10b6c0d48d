import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  readonly className?: string;
  /** Hides the column on phones, where the first column or the details have the same content. */
  readonly isDesktopOnly?: boolean;
}

/**
 * A table; on phones each row is a card. If rows have details, the first cell has a button that covers the row, so that
 * keyboards and screen readers find it.
 */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}): ReactNode {
  return (
    <table aria-label={label} className="w-full table-fixed border-collapse max-md:block">
      <thead className="max-md:sr-only">
        <tr className="border-b border-line text-left text-xs text-quiet">
          {columns.map(({ head, className }) => (
            <th
              key={head}
              scope="col"
              className={classNames('px-4 py-2.5 font-medium first:pl-5 last:pr-5', className)}
            >
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-md:block">
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            className="relative border-b border-line last:border-0 hover:bg-sunken/60 max-md:block max-md:px-4 max-md:py-3"
          >
            {columns.map(({ head, cell, className, isDesktopOnly }) => (
              <td
                key={head}
                className={classNames(
                  'px-4 py-3 align-middle first:pl-5 last:pr-5',
                  'max-md:block max-md:w-auto max-md:px-0 max-md:py-0.5 max-md:text-left max-md:first:pl-0',
                  isDesktopOnly && 'max-md:hidden',
                  className,
                )}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Stretches a link or button over its row: `<Link className={rowLink}>`. */
export const rowLink = classNames(
  'text-left font-medium text-ink after:absolute after:inset-0 focus-visible:outline-none',
  'focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent',
);
