import type { UsageSummary } from '#contract/usage.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { dayOf, monthOf, startOfNextMonth } from '#server/platform/time/calendar.ts';
import { findUsageSummary } from './usage-store.ts';

/** Returns the sums of a team's present month (specification section 12.9). */
export async function getUsageSummary(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  teamId: TeamId,
): Promise<UsageSummary> {
  const now = clock.now();
  const next = startOfNextMonth(now);
  const found = await findUsageSummary(database.pool, teamId, monthOf(now), dayOf(next));
  if (!found) throw notFound('team');
  return { month: dayOf(now).slice(0, 7), ...found, resets_at: next.toISOString() };
}
