import type { TestService } from '#test/support/service/test-service.ts';

/** Inserts teams without members that have used up this month. Their ids sort before those of other teams. */
export async function putFullTeams(
  { query, clock }: Pick<TestService, 'query' | 'clock'>,
  count: number,
): Promise<void> {
  await query(
    `WITH made AS (
       INSERT INTO teams (id, name, plan, monthly_message_limit, created_at, route)
       SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'Example team', 'pro', 1, to_timestamp(0), lpad(n::text, 4, '0')
       FROM generate_series(1, $1) AS n RETURNING id
     ) INSERT INTO usage_months (team_id, month, accepted) SELECT id, $2::date, 1 FROM made`,
    [count, `${clock.now().toISOString().slice(0, 7)}-01`],
  );
}
