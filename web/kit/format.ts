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

/** Formats a time relative to now: `just now`, `5 min ago`, `Nov 4`, in the future `in 5 min`. */
export function relativeTime(at: string, now: number): string {
  const date = new Date(at);
  const seconds = Math.round((now - date.getTime()) / 1_000);
  const amount = amountOf(Math.abs(seconds));
  if (amount !== undefined) return seconds < 0 ? `in ${amount}` : `${amount} ago`;
  if (Math.abs(seconds) < 45) return seconds < -5 ? 'in a moment' : 'just now';
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? dayAndMonth : dayMonthYear).format(date);
}

/** Formats the time until work begins: `in 5 min`, or `now` once it is due. */
export function dueTime(at: string, now: number): string {
  return Date.parse(at) - now < 5_000 ? 'now' : relativeTime(at, now);
}

function amountOf(seconds: number): string | undefined {
  if (seconds < 45 || seconds >= 7 * 86_400) return undefined;
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
