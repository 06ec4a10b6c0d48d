import type { TypedSearch } from '#web/api/search-parameters.ts';

/* Months and days of usage are in UTC, whatever the time zone of the browser. */

/** Search parameters of the page: a month such as `2026-11`; undefined for this month. */
interface UsageSearch {
  readonly month?: string;
}

export const readUsageSearch = ({ month }: TypedSearch): UsageSearch => ({
  month: typeof month === 'string' && /^\d{4}-(0[1-9]|1[0-2])$/.test(month) ? month : undefined,
});

/** Adds months: `monthAfter('2026-12', 1)` is `2027-01`. */
export function monthAfter(month: string, months: number): string {
  const first = new Date(`${month}-01`);
  first.setUTCMonth(first.getUTCMonth() + months);
  return first.toISOString().slice(0, 7);
}

export function daysIn(month: string): number {
  return new Date(Date.parse(`${monthAfter(month, 1)}-01`) - 1).getUTCDate();
}
