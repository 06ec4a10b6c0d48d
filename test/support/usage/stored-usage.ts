import type { TeamId } from '#server/platform/ids.ts';
import { columnBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** Messages accepted in each month, without refunded ones: `{ '2026-11': 2 }`. */
export async function acceptedByMonth({ query }: Service, teamId: TeamId): Promise<Record<string, number>> {
  const months = await query<{ month: string; accepted: number }>(
    'SELECT month::text, accepted FROM usage_months WHERE team_id = $1 ORDER BY month',
    [teamId],
  );
  return Object.fromEntries(months.map(({ month, accepted }) => [month.slice(0, 7), accepted]));
}

/** Messages accepted in all months, without refunded ones. */
export async function acceptedOf(service: Service, teamId: TeamId): Promise<number> {
  const months = await acceptedByMonth(service, teamId);
  return Object.values(months).reduce((sum, accepted) => sum + accepted, 0);
}

/** Messages accepted by all teams in all months, without refunded ones. */
export async function acceptedInAll(service: Service): Promise<number> {
  return (await acceptedOfAll(service)).reduce((sum, accepted) => sum + accepted, 0);
}
const acceptedOfAll = columnBy<number>('SELECT accepted::float8 FROM usage_months');

/** Numbers of outbound messages per day, oldest day first. */
export const sentByDay = columnBy<number, [teamId: TeamId]>(
  `SELECT messages FROM usage_days WHERE team_id = $1 AND direction = 'outbound' ORDER BY day`,
);

/** Percentages of the monthly limit at which a team was notified, lowest first. */
export const storedNotices = columnBy<number, [teamId: TeamId]>(
  'SELECT percent FROM usage_notices WHERE team_id = $1 ORDER BY month, percent',
);
