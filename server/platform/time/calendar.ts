/** The calendar in UTC, as the database stores days and months. */

/** The day of a time, such as `2026-11-21`. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The first day of a time's month, such as `2026-11-01`. */
export function monthOf(moment: Date): string {
  return `${moment.toISOString().slice(0, 7)}-01`;
}

/** The start of the month after that of a time. */
export function startOfNextMonth(moment: Date): Date {
  return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 1));
}

/** Formats a UTC time for mails, such as `14:05 UTC on December 1, 2026`. */
export function momentForPeople(moment: Date): string {
  return `${moment.toISOString().slice(11, 16)} UTC on ${dayForPeople(moment)}`;
}

/** Formats a UTC day for pages, such as `December 1, 2026`. */
export function dayForPeople(moment: Date): string {
  return moment.toLocaleDateString('en', {
    month: 'long',
    day: 'numeric',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

const timestamp =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Parses a date and time of ISO 8601 with a zone. @returns undefined for any other text, and for a day that its month
 * does not have
 */
export function parseTimestamp(text: string): Date | undefined {
  const [, year, month, day] = (timestamp.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  // Date accepts the 31st of a shorter month as a day of the next month.
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDay ? new Date(text) : undefined;
}
