import { type PlanName, plans } from '#contract/plans.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable } from '#server/database/statement.ts';
import { invalid } from '#server/platform/app-error.ts';
import { insertTeam, type TeamRow } from './team-store.ts';

/** Makes a team with the limits of its plan (specification section 8). */
export async function createTeam(
  db: Queryable,
  { ids, clock }: Pick<Runtime, 'ids' | 'clock'>,
  input: { readonly name: string; readonly plan: PlanName },
): Promise<TeamRow> {
  const length = [...input.name].length;
  if (length < 1 || length > 100) throw invalid('name', 'name must have 1 to 100 characters.');
  const team: TeamRow = {
    id: ids.next('team'),
    name: input.name,
    plan: input.plan,
    monthly_message_limit: plans[input.plan].monthlyMessages,
    created_at: clock.now(),
  };
  await insertTeam(db, team);
  return team;
}
