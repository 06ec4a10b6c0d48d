import { limitText, planTitles } from '#contract/plan-texts.ts';
import type { PlanName } from '#contract/plans.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Queryable, Transaction } from '#server/database/statement.ts';
import { queueMail } from '#server/mail/queue-mail.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict, invalid } from '#server/platform/app-error.ts';
import { firstIdAt, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { commandLine } from '#server/platform/process/command-line.ts';
import { planRequestMs } from '#server/teams/limits.ts';
import { planChoice } from '#server/teams/team/plan-choice.ts';
import type { TeamRow } from '#server/teams/team/team-store.ts';
import type { MemberProfileRow } from './member-store.ts';
import { listPlanRequests, type PlanRequestRow } from './plan-request-store.ts';
import { runTeamChange } from './run-team-change.ts';

/** The command with which the operator gives a team a plan. */
export function setPlanCommand(teamId: TeamId, plan: PlanName): string {
  return `${commandLine} team set-plan --team ${publicId('team', teamId)} --plan ${plan}`;
}

/** Lists the requests of a team's owners that are younger than a day, newest first. */
export function listOpenPlanRequests(
  db: Queryable,
  { clock }: Pick<Runtime, 'clock'>,
  teamId: TeamId,
): Promise<PlanRequestRow[]> {
  return listPlanRequests(db, teamId, firstIdAt(clock.in(-planRequestMs).getTime()));
}

/**
 * Asks the operator for another plan, for an owner (specification section 8). The request is an entry of the audit log,
 * and a mail to OPERATOR_EMAIL if mail is on. One plan of a team is asked for once a day.
 * @throws AppError 403 for another role; 400, param plan, for a plan that needs no operator; 409 within a day
 */
export async function requestPlan(
  services: Pick<Runtime, 'database' | 'ids' | 'clock' | 'config' | 'secrets'>,
  teamId: TeamId,
  plan: PlanName,
  by: AuditActor,
): Promise<void> {
  await runTeamChange(services, { teamId, by, permission: 'billing:manage' }, async (trx, team, owner) => {
    if (!planChoice(services.config, team).askable.includes(plan)) {
      const reason =
        plan === team.plan
          ? `The team has the plan ${plan} already.`
          : `The owners of the team choose the plan ${plan} themselves.`;
      throw invalid('plan', reason);
    }
    const asked = await listOpenPlanRequests(trx, services, teamId);
    if (asked.some((request) => request.plan === plan)) {
      throw conflict(
        `The operator was asked for the plan ${plan} less than 24 hours ago. Ask again tomorrow.`,
        'plan',
      );
    }
    const isMailed = owner !== undefined && (await mailRequest(trx, services, team, owner, plan));
    const details = { plan, mailed: isMailed };
    await recordAudit(trx, services, { by, action: 'team.plan_requested', teamId, details });
  });
}

/** Queues the mail for each address of OPERATOR_EMAIL. @returns whether a mail was queued */
async function mailRequest(
  trx: Transaction,
  services: Pick<Runtime, 'ids' | 'clock' | 'config' | 'secrets'>,
  team: TeamRow,
  owner: MemberProfileRow,
  plan: PlanName,
): Promise<boolean> {
  const limit = limitText(team.monthly_message_limit).toLowerCase();
  const message = {
    subject: `${team.name} asks for the plan ${planTitles[plan]}`,
    heading: `A team asks for the plan ${planTitles[plan]}`,
    paragraphs: [
      `${owner.name} (${owner.email}), an owner of the team ${team.name}, asks for the plan ${planTitles[plan]}.`,
      `The team has the plan ${planTitles[team.plan]} with ${limit} messages a month. To give it the plan, run this command on the server:`,
    ],
    commands: [setPlanCommand(team.id, plan)],
    footnote: 'You get this because OPERATOR_EMAIL of this Ownline server has your address.',
  };
  let isQueued = false;
  for (const to of services.config.operatorEmails)
    if (await queueMail(trx, services, { to, message })) isQueued = true;
  return isQueued;
}
