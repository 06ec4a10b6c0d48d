import { type PlanName, plans } from '#contract/plans.ts';
import { validateName } from '#server/accounts/account/account.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import { runHooks } from '#server/database/hooks.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { notFound } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { findTestTeam, insertTeam, lockTeam, type TeamRow } from './team-store.ts';

interface NewTeam {
  readonly name: string;
  readonly plan: PlanName;
  readonly by: AuditActor;
}

/** Creates a team with the limits of its plan (specification section 8). @throws 400 for the name */
export async function createTeam(
  trx: Transaction,
  services: Runtime,
  { name, plan, by }: NewTeam,
): Promise<TeamRow> {
  validateName(name);
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

/**
 * Returns the test team of a team, and creates it for the first test key (specification section 5.4, decision 0042). It
 * has the team's plan, and the largest monthly limit: test messages do not use up any month. @throws 404
 */
export async function ensureTestTeam(trx: Transaction, services: Runtime, teamId: TeamId): Promise<TeamId> {
  const team = await lockTeam(trx, teamId);
  if (!team || team.test_of !== null) throw notFound('team');
  const found = await findTestTeam(trx, teamId);
  if (found) return found.id;
  const testTeam: TeamRow = {
    id: services.ids.next('team'),
    name: team.name,
    plan: team.plan,
    monthly_message_limit: plans.enterprise.monthlyMessages,
    created_at: services.clock.now(),
    test_of: teamId,
  };
  await insertTeam(trx, testTeam);
  await runHooks(trx, services, 'testTeamCreated', { teamId: testTeam.id });
  return testTeam.id;
}
