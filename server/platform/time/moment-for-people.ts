import { dayForPeople } from './day-for-people.ts';

/** Formats a UTC time for mails, such as `14:05 UTC on December 1, 2026`. */
export function momentForPeople(moment: Date): string {
  return `${moment.toISOString().slice(11, 16)} UTC on ${dayForPeople(moment)}`;
}
