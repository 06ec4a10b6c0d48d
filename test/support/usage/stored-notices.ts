import type { TeamId } from '#server/platform/ids/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Percentages of the monthly limit at which a team was notified, lowest first. */
export async function storedNotices(
  { query }: Pick<TestService, 'query'>,
  teamId: TeamId,
): Promise<number[]> {
  const notices = await query<{ percent: number }>(
    'SELECT percent FROM usage_notices WHERE team_id = $1 ORDER BY month, percent',
    [teamId],
  );
  return notices.map(({ percent }) => percent);
}
