import { type PlanName, plans } from '#contract/plans.ts';
import type { PlanUsage } from '#contract/usage.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { countNumbers } from '#server/numbers/number-store.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { countSeats } from '#server/teams/invitations/invitation-store.ts';
import { findTeam } from '#server/teams/team/team.ts';
import { countWebhooks } from '#server/webhooks/endpoints/webhook-store.ts';

/** How many members, numbers and webhooks of its plan a team uses. */
export interface ResourceCounts {
  /** Open invitations included. */
  readonly members: number;
  /** Pending numbers included. */
  readonly numbers: number;
  readonly webhooks: number;
}

export async function countResources(
  { database: { pool }, clock }: Runtime,
  teamId: TeamId,
): Promise<ResourceCounts> {
  const [members, numbers, webhooks] = await Promise.all([
    countSeats(pool, { teamId, now: clock.expiryNow() }),
    countNumbers(pool, { teamId }),
    countWebhooks(pool, { teamId }),
  ]);
  return { members, numbers, webhooks };
}

/** A team's plan and how much of it is used, apart from messages. */
export async function getPlanUsage(services: Runtime, teamId: TeamId): Promise<PlanUsage> {
  const team = await findTeam(services.database.pool, { teamId });
  if (!team) throw notFound('team');
  const counts = await countResources(services, teamId);
  const used = (name: keyof ResourceCounts) => ({ used: counts[name], limit: limitOf(team.plan, name) });
  return { plan: team.plan, members: used('members'), numbers: used('numbers'), webhooks: used('webhooks') };
}

/** null means no limit: JSON has no Infinity. */
function limitOf(plan: PlanName, name: keyof ResourceCounts): number | null {
  const limit = plans[plan][name];
  return Number.isFinite(limit) ? limit : null;
}
