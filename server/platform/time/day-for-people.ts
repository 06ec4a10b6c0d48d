/** Formats a UTC day for pages, such as `December 1, 2026`. */
export function dayForPeople(moment: Date): string {
  return moment.toLocaleDateString('en', {
    month: 'long',
    day: 'numeric',
    year: 'numeric',
    timeZone: 'UTC',
  });
}
