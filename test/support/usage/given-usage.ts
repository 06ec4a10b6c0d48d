import type { TeamId } from '#server/platform/ids/ids.ts';
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

/** Sets the usage of each month that the team has used. */
export async function setAccepted({ query }: Service, teamId: TeamId, accepted: number): Promise<void> {
  await query('UPDATE usage_months SET accepted = $2 WHERE team_id = $1', [teamId, accepted]);
}

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
