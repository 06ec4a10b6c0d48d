const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const dayAndMonth = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });
const dayMonthYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });
const clockTime = new Intl.DateTimeFormat('en', { hour: 'numeric', minute: '2-digit' });

const clockTimeWithSeconds = new Intl.DateTimeFormat('en', { timeStyle: 'medium' });

const dayOfMonth = new Intl.DateTimeFormat('en', { month: 'long', day: 'numeric', timeZone: 'UTC' });

/** Formats a day in UTC, in which limits of a month end: `December 1`. @param at a timestamp */
export function utcDay(at: string): string {
  return dayOfMonth.format(new Date(at));
}

export function exactTime(at: string): string {
  return exact.format(new Date(at));
}

/** Formats a time of day: `10:32 AM`. */
export function timeOfDay(at: string): string {
  return clockTime.format(new Date(at));
}

/** Formats a time with seconds: `10:32:07 AM` today, `Nov 4, 2026, 10:32:07 AM` on other days. */
export function clockTimeOf(at: string, now: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? clockTimeWithSeconds.format(date) : exact.format(date);
}

/**
 * Formats the time of something that has happened: `just now`, `5 min ago`, `Nov 4`. A time after `now` is just now: a
 * page reads the clock every 15 s only.
 */
export function pastTime(at: string, now: number): string {
  const ago = amountOf(now - Date.parse(at));
  return ago === undefined ? dayNear(at, now) : ago === '' ? 'just now' : `${ago} ago`;
}

/** Formats the time of something to come: `in 5 min`, `Nov 4`, or `now` once it is due. */
export function dueTime(at: string, now: number): string {
  const leftMs = Date.parse(at) - now;
  if (leftMs < 5_000) return 'now';
  const left = amountOf(leftMs);
  return left === undefined ? dayNear(at, now) : left === '' ? 'in a moment' : `in ${left}`;
}

function dayNear(at: string, now: number): string {
  const date = new Date(at);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? dayAndMonth : dayMonthYear).format(date);
}

/** Formats the time between two moments: `26 s`, `5 min`. */
export function spanText(from: string, to: string): string {
  const spanMs = Date.parse(to) - Date.parse(from);
  const amount = amountOf(spanMs);
  if (amount === undefined) return '7 days or more';
  return amount || `${Math.max(1, Math.ceil(spanMs / 1_000))} s`;
}

/** Formats a span of time: '' below 45 seconds, undefined from 7 days on. */
function amountOf(spanMs: number): string | undefined {
  const seconds = Math.round(spanMs / 1_000);
  if (seconds < 45) return '';
  if (seconds >= 7 * 86_400) return undefined;
  if (seconds < 3_570) return `${Math.max(1, Math.round(seconds / 60))} min`;
  if (seconds < 86_000) return `${Math.round(seconds / 3_600)} h`;
  const days = Math.round(seconds / 86_400);
  return days === 1 ? '1 day' : `${days} days`;
}

/** Formats a day in the browser's time zone: `Today`, `Yesterday`, or `Wednesday, Nov 4`. */
export function dayOf(at: string, now: number): string {
  const startOf = (time: number) => new Date(time).setHours(0, 0, 0, 0);
  const days = Math.round((startOf(now) - startOf(Date.parse(at))) / 86_400_000);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  const style = days < 300 ? ({ weekday: 'long', day: 'numeric', month: 'short' } as const) : undefined;
  return style
    ? new Intl.DateTimeFormat('en', style).format(new Date(at))
    : dayMonthYear.format(new Date(at));
}

const plain = new Intl.NumberFormat('en');

export function amount(count: number): string {
  return plain.format(count);
}

/** Formats a count with its noun: `1 message`, `2 messages`. */
export function counted(count: number, noun: string): string {
  return `${amount(count)} ${noun}${count === 1 ? '' : 's'}`;
}
