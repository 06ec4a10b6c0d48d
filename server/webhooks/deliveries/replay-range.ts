import type { ReplayRequest } from '#contract/webhook.ts';
import { invalid } from '#server/platform/app-error.ts';
import { firstIdAt } from '#server/platform/ids/ids.ts';

const iso =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Parses the range of a replay, which ends before `until`, or now. The id of a delivery contains the time of its event.
 * @returns ids that bound the deliveries of the range
 * @throws AppError 400, param since or until
 */
export function parseReplayBounds(
  { since, until }: Pick<ReplayRequest, 'since' | 'until'>,
  now: Date,
): { readonly after: string; readonly before: string } {
  const sinceMs = readMoment('since', since);
  // Without `until`, the range has to include events of the current millisecond.
  const untilMs = until === undefined ? now.getTime() + 1 : readMoment('until', until);
  if (until !== undefined && untilMs <= sinceMs) throw invalid('until', 'until must be later than since.');
  return { after: firstIdAt(sinceMs), before: firstIdAt(untilMs) };
}

function readMoment(name: string, text: string): number {
  const ms = parseMoment(text);
  if (ms !== undefined) return ms;
  throw invalid(
    name,
    `${name} must be a date and time in ISO 8601 with Z or an offset, such as 2026-11-21T09:30:00.000Z.`,
  );
}

function parseMoment(text: string): number | undefined {
  const [, year, month, day] = (iso.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  // Date.parse accepts the 31st of a shorter month as a day of the next month.
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDay ? Date.parse(text) : undefined;
}
