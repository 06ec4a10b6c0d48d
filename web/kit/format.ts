/** The language of a locale: `en` of `en-GB`. */
export const languageOf = (locale: string): string => locale.split('-')[0] ?? '';

/**
 * The browser's locale for a language: its region decides how times and numbers are written. Some browsers name locales
 * that Intl does not take, such as en-US@posix.
 */
export const localeFor = (language: string): string =>
  navigator.languages.find((locale) => languageOf(locale) === language && /^[\w-]+$/.test(locale)) ??
  language;

/** Tests import this file without a page. */
const page = Reflect.get(globalThis, 'document') as
  | { readonly documentElement: { readonly lang: string } }
  | undefined;

/** The locale of the page, in the language that the server chose for it. */
export const pageLocale = localeFor(page?.documentElement.lang || 'en');

const exact = new Intl.DateTimeFormat(pageLocale, { dateStyle: 'medium', timeStyle: 'medium' });

export const clockTimeFor = (locale: string) =>
  new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' });
const clockTime = clockTimeFor(pageLocale);
const clockTimeWithSeconds = new Intl.DateTimeFormat(pageLocale, { timeStyle: 'medium' });

const dayOfMonth = new Intl.DateTimeFormat(pageLocale, { month: 'long', day: 'numeric', timeZone: 'UTC' });

/** Formats a day in UTC, in which limits of a month end: `December 1`. @param at a timestamp */
export function utcDay(at: string): string {
  return dayOfMonth.format(new Date(at));
}

const monthAndYear = new Intl.DateTimeFormat(pageLocale, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const dayInWords = new Intl.DateTimeFormat(pageLocale, {
  weekday: 'long',
  month: 'long',
  day: 'numeric',
  timeZone: 'UTC',
});

/** Formats a month as `November 2026`. @param month `2026-11` */
export function monthInWords(month: string): string {
  return monthAndYear.format(new Date(`${month}-01`));
}

/** Formats a day as `Sunday, November 22`. @param day `2026-11-22` */
export function dayWithWeekday(day: string): string {
  return dayInWords.format(new Date(day));
}

export function exactTime(at: string): string {
  return exact.format(new Date(at));
}

/** Formats a time of day: `10:32 AM`. */
export function timeOfDay(at: string | Date, format = clockTime): string {
  return format.format(new Date(at));
}

/** Formats a time with seconds: `10:32:07 AM` today, `Nov 4, 2026, 10:32:07 AM` on other days. */
export function clockTimeOf(at: string, now: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? clockTimeWithSeconds.format(date) : exact.format(date);
}

const plain = new Intl.NumberFormat(pageLocale);

export function amount(count: number): string {
  return plain.format(count);
}

const either = new Intl.ListFormat(pageLocale, { type: 'disjunction' });

/** Lists alternatives: `Ada Example or Sam Example`. */
export function eitherOf(names: readonly string[]): string {
  return either.format(names);
}

const all = new Intl.ListFormat(pageLocale);

/** Lists what belongs together: `2 added, 1 changed, and 3 left out`. */
export function listOf(parts: readonly string[]): string {
  return all.format(parts);
}
