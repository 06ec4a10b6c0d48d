import { type PlanName, plans } from '#contract/plans.ts';
import { nameMaxCharacters } from '#contract/team.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { invalid } from '#server/platform/app-error.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { insertTeam, type TeamRow } from './team-store.ts';

interface NewTeam {
  readonly name: string;
  readonly plan: PlanName;
  readonly by: AuditActor;
}

/** Creates a team with the limits of its plan (specification section 8). @throws 400 for the name */
export async function createTeam(
  trx: Transaction,
  services: Pick<Runtime, 'ids' | 'clock'>,
  { name, plan, by }: NewTeam,
): Promise<TeamRow> {
  const { length } = [...name];
  if (length < 1 || length > nameMaxCharacters) {
    throw invalid('name', `name must have 1 to ${nameMaxCharacters} characters.`);
  }
  refuseHiddenCharacters('name', name);
  const team: TeamRow = {
    id: services.ids.next('team'),
    name,
    plan,
    monthly_message_limit: plans[plan].monthlyMessages,
    created_at: services.clock.now(),
    test_of: null,
  };
  await insertTeam(trx, team);
  await recordAudit(trx, services, {
    by,
    action: 'team.created',
    teamId: team.id,
    details: { name, plan },
  });
  return team;
}
