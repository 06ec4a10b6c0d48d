/** The calendar in UTC, as the database keeps days and months. */

/** The day of a moment: `2026-11-21`. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The month of a moment, as its first day: `2026-11-01`. */
export function monthOf(moment: Date): string {
  return `${moment.toISOString().slice(0, 7)}-01`;
}

/** When the month after that of a moment begins. */
export function startOfNextMonth(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 1));
}
