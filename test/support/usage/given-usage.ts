import type { TeamId } from '#server/platform/ids.ts';
import { changeBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** Sets this month's number of accepted messages, without any message. */
export async function putAccepted(
  { query, clock }: Pick<TestService, 'query' | 'clock'>,
  teamId: TeamId,
  accepted: number,
): Promise<void> {
  await query('INSERT INTO usage_months (team_id, month, accepted) VALUES ($1, $2, $3)', [
    teamId,
    `${clock.now().toISOString().slice(0, 7)}-01`,
    accepted,
  ]);
}

/** Adds sent and received messages to the usage of one day, and none to the month's accepted messages. @param day `2026-11-22` */
export async function putDay(
  { query }: Service,
  teamId: TeamId,
  { day, sent, received }: { readonly day: string; readonly sent: number; readonly received: number },
): Promise<void> {
  await query(
    `INSERT INTO usage_days (team_id, day, direction, messages)
     VALUES ($1, $2, 'outbound', $3), ($1, $2, 'inbound', $4)`,
    [teamId, day, sent, received],
  );
}

/** Counts messages as accepted in this month and sent today, without any message. */
export async function putSentToday(
  service: Pick<TestService, 'query' | 'clock'>,
  teamId: TeamId,
  sent: number,
): Promise<void> {
  await putAccepted(service, teamId, sent);
  await putDay(service, teamId, { day: service.clock.now().toISOString().slice(0, 10), sent, received: 0 });
}

/** Sets the usage of each month that the team has used. */
export const setAccepted = changeBy<[teamId: TeamId, accepted: number]>(
  'UPDATE usage_months SET accepted = $2 WHERE team_id = $1',
);

/** Inserts a used-up minute of the team's rate limiter, this many minutes from now. */
export async function putSpentMinute(
  { query, clock }: Pick<TestService, 'query' | 'clock'>,
  teamId: TeamId,
  aheadMinutes: number,
): Promise<void> {
  await query('INSERT INTO rate_windows (team_id, minute, taken) VALUES ($1, $2, 1000000)', [
    teamId,
    Math.floor(clock.nowMs() / 60_000) + aheadMinutes,
  ]);
}

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
