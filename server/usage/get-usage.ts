import type { Usage } from '#contract/usage.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { dayOf, startOfNextMonth } from '#server/platform/time/calendar.ts';
import { findTeam } from '#server/teams/team/team-store.ts';
import { listNotices } from './limit-notice-store.ts';
import { findMonthUsage, listUsageDays } from './usage-store.ts';

const dayMs = 86_400_000;

/** Returns a team's usage day by day (specification section 12.7). @param month `2026-11`; undefined for the present */
export async function getUsage(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  teamId: TeamId,
  month: string | undefined,
): Promise<Usage> {
  const now = clock.now();
  const first = new Date(`${month ?? dayOf(now).slice(0, 7)}-01T00:00:00.000Z`);
  const next = startOfNextMonth(first);
  const team = await findTeam(database.pool, teamId);
  if (!team) throw notFound('team');
  const [sent, rows, notices] = await Promise.all([
    findMonthUsage(database.pool, teamId, dayOf(first)),
    listUsageDays(database.pool, teamId, dayOf(first), dayOf(next)),
    listNotices(database.pool, teamId, dayOf(first)),
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
