import type { Team } from '#contract/team.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { TeamRow } from './team-store.ts';

/** The Team object of the API (specification section 2.2). */
export function teamView(team: TeamRow): Team {
  return {
    id: publicId('team', team.id),
    name: team.name,
    plan: team.plan,
    monthly_message_limit: team.monthly_message_limit,
    created_at: team.created_at.toISOString(),
    ...(team.test_of === null ? {} : { test: true as const }),
  };
}
