import type { DeliveryId, TeamId } from '#server/platform/ids/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Inserts `count` attempts of a delivery at the present time. */
export async function putAttempts(
  { runtime, clock, query }: Pick<TestService, 'runtime' | 'clock' | 'query'>,
  teamId: TeamId,
  deliveryId: DeliveryId,
  count: number,
): Promise<void> {
  const ids = Array.from({ length: count }, () => runtime.ids.next('att'));
  await query(
    `INSERT INTO attempts (team_id, delivery_id, id, started_at, duration_ms, outcome, url, response_body, is_counted)
     SELECT team_id, id, attempt, $3, 5, 'succeeded', 'https://hooks.example.com/', 'ok', true
     FROM deliveries, unnest($4::uuid[]) AS attempt WHERE team_id = $1 AND id = $2`,
    [teamId, deliveryId, clock.now(), ids],
  );
}

/** Number of stored attempts of a team. */
export async function countAttempts({ query }: Pick<TestService, 'query'>, teamId: TeamId): Promise<number> {
  return (await query('SELECT FROM attempts WHERE team_id = $1', [teamId])).length;
}
