import { pageLocale } from './format.ts';
import { texts } from './texts.ts';

const dayAndMonth = new Intl.DateTimeFormat(pageLocale, { day: 'numeric', month: 'short' });
const dayMonthYear = new Intl.DateTimeFormat(pageLocale, { day: 'numeric', month: 'short', year: 'numeric' });
const weekday = new Intl.DateTimeFormat(pageLocale, { weekday: 'long', day: 'numeric', month: 'short' });

/**
 * Formats the time of something that has happened: `just now`, `5 min ago`, `Nov 4`. A time shortly after `now` is
 * `just now`, too, because a page reads the clock only every 15 s.
 */
export function pastTime(at: string, now: number): string {
  return inUnits(texts.past, now - Date.parse(at)) ?? dayNear(at, now);
}

/** Formats the time of something to come: `in 5 min`, `Nov 4`, or `now` once it is due. */
export function dueTime(at: string, now: number): string {
  const leftMs = Date.parse(at) - now;
  return leftMs < 5_000 ? texts.due.now : (inUnits(texts.due, leftMs) ?? dayNear(at, now));
}

function dayNear(at: string, now: number): string {
  const date = new Date(at);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? dayAndMonth : dayMonthYear).format(date);
}

/** Formats the time between two moments: `26 s`, `5 min`. */
export function spanText(from: string, to: string): string {
  const spanMs = Date.parse(to) - Date.parse(from);
  const moment = texts.span.seconds({ count: Math.max(1, Math.ceil(spanMs / 1_000)) });
  return inUnits({ ...texts.span, moment }, spanMs) ?? texts.span.longer;
}

type Units = Pick<typeof texts.past, 'moment' | 'minutes' | 'hours' | 'days'>;

/** Formats a span of time: a moment below 45 seconds, undefined from 7 days on. */
function inUnits(units: Units, spanMs: number): string | undefined {
  const seconds = Math.round(spanMs / 1_000);
  if (seconds < 45) return units.moment;
  if (seconds >= 7 * 86_400) return undefined;
  if (seconds < 3_570) return units.minutes({ count: Math.max(1, Math.round(seconds / 60)) });
  if (seconds < 86_000) return units.hours({ count: Math.round(seconds / 3_600) });
  return units.days({ count: Math.round(seconds / 86_400) });
}

/** Formats a day in the browser's time zone: `Today`, `Yesterday`, or `Wednesday, Nov 4`. */
export function dayOf(at: string, now: number): string {
  const startOf = (time: number) => new Date(time).setHours(0, 0, 0, 0);
  const days = Math.round((startOf(now) - startOf(Date.parse(at))) / 86_400_000);
  if (days === 0) return texts.today;
  if (days === 1) return texts.yesterday;
  return (days < 300 ? weekday : dayMonthYear).format(new Date(at));
}
