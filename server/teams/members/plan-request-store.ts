import type { PlanName } from '#contract/plans.ts';
import { statement } from '#server/database/statement.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';

/** A request of an owner for another plan, from the audit log. */
export interface PlanRequestRow {
  readonly plan: PlanName;
  readonly created_at: Date;
  /** Whether a mail to the operator was queued. */
  readonly is_mailed: boolean;
}

/** Lists a team's requests for another plan, newest first. @param after only entries with larger ids are listed */
export const listPlanRequests = statement<[teamId: TeamId, after: string], PlanRequestRow>(
  'teams.plan-requests',
  // The conditions are those of the index audit_log_of_home.
  `SELECT details ->> 'plan' AS plan, created_at, coalesce((details -> 'mailed')::boolean, false) AS is_mailed FROM audit_log
   WHERE team_id = $1 AND id > $2 AND outcome = 'done' AND action = 'team.plan_requested' ORDER BY id DESC`,
).rows;
