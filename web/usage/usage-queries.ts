import type { Team } from '#contract/team.ts';
import type { PlanUsage, Usage } from '#contract/usage.ts';
import { teamQuery } from '#web/api/team-requests.ts';

/** Reads the usage of a month. @param month `2026-11`; undefined for the current month */
export const usageQuery = (teamId: string, month: string | undefined) =>
  teamQuery<Usage>(teamId, 'usage', '/usage', { month });

export const planUsageQuery = (teamId: string) => teamQuery<PlanUsage>(teamId, 'usage', '/usage/limits');

export const teamDetailsQuery = (teamId: string) => teamQuery<Team>(teamId, 'team', '/team');
