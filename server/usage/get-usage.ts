import type { Usage, UsageSummary } from '#contract/usage.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { dayOf, monthOf, startOfNextMonth } from '#server/platform/time/calendar.ts';
import { findTeam } from '#server/teams/team/team-store.ts';
import { findMonthUsage, findUsageSummary, listNotices, listUsageDays } from './usage-store.ts';

const dayMs = 86_400_000;

type Services = Pick<Runtime, 'database' | 'clock'>;

/** Returns the sums of a team's present month (specification section 12.9). */
export async function getUsageSummary({ database, clock }: Services, teamId: TeamId): Promise<UsageSummary> {
  const now = clock.now();
  const next = startOfNextMonth(now);
  const found = await findUsageSummary(database.pool, { teamId, month: monthOf(now), next: dayOf(next) });
  if (!found) throw notFound('team');
  return { month: dayOf(now).slice(0, 7), ...found, resets_at: next.toISOString() };
}

/** Returns a team's usage day by day (specification section 12.7). @param month `2026-11`; undefined for the present */
export async function getUsage(
  { database, clock }: Services,
  teamId: TeamId,
  month: string | undefined,
): Promise<Usage> {
  const now = clock.now();
  const first = new Date(`${month ?? dayOf(now).slice(0, 7)}-01T00:00:00.000Z`);
  const next = startOfNextMonth(first);
  const team = await findTeam(database.pool, teamId);
  if (!team) throw notFound('team');
  const range = { teamId, month: dayOf(first), next: dayOf(next) };
  const [sent, rows, notices] = await Promise.all([
    findMonthUsage(database.pool, range),
    listUsageDays(database.pool, range),
    listNotices(database.pool, range),
  ]);
  const byDay = new Map(rows.map((row) => [row.day, row]));
  const until = Math.min(next.getTime(), now.getTime() + 1);
  const count = Math.max(0, Math.ceil((until - first.getTime()) / dayMs));
  const days = Array.from({ length: count }, (_, index) => {
    const day = dayOf(new Date(first.getTime() + index * dayMs));
    return { day, sent: byDay.get(day)?.sent ?? 0, received: byDay.get(day)?.received ?? 0 };
  });
  return {
    month: dayOf(first).slice(0, 7),
    sent,
    received: days.reduce((sum, day) => sum + day.received, 0),
    monthly_message_limit: team.monthly_message_limit,
    resets_at: next.toISOString(),
    days,
    notices: notices.map(({ percent, created_at }) => ({ percent, at: created_at.toISOString() })),
  };
}
