import { type PlanName, planNames, plans } from '#contract/plans.ts';
import { escapeHtml } from '#server/platform/escape-html.ts';
import { renderPage } from '#server/platform/http/html-page.ts';
import type { ResourceCounts } from './plan-usage.ts';

/** A team's plan, with the used part of its limits. */
export interface PlanInUse extends ResourceCounts {
  /** `team_…` */
  readonly teamId: string;
  readonly teamName: string;
  readonly plan: PlanName;
  readonly monthlyMessageLimit: number;
  /** Messages that count against the month's limit. */
  readonly sent: number;
  /** The first day of the next month's limit: `2026-12-01`, UTC. */
  readonly resetsOn: string;
}

/** The cheapest plan with media and message.delivered. */
const firstStandard = planNames.find((name) => plans[name].standard);

/**
 * The page about plans on a server that sells none (specification section 8).
 * @param teams undefined without a session
 * @param pathTo puts the path of APP_URL before a path
 */
export function renderPlans(
  teams: readonly PlanInUse[] | undefined,
  pathTo: (path: string) => string,
): string {
  return renderPage(
    'Plans and limits',
    `<main class="wide"><h1>Plans and limits</h1>
<p>Nothing is sold here. The operator of this server gives each team its plan, and can change it at any time.</p>
${teams === undefined ? `<p><a href="${escapeHtml(pathTo('/sign-in?next=/billing'))}">Sign in</a> to see the plans of your teams.</p>` : teamsHtml(teams, pathTo)}
<section><h2>What the plans allow</h2><ul>${planNames.map(planHtml).join('\n')}</ul>
<p class="quiet">Per team. Everything that a team has already goes on working on a smaller plan; only more is refused.</p></section></main>`,
  );
}

function teamsHtml(teams: readonly PlanInUse[], pathTo: (path: string) => string): string {
  if (teams.length > 0) {
    return teams.map((team) => teamHtml(team, pathTo(`/teams/${team.teamId}/usage`))).join('\n');
  }
  return '<p>You are in no team yet. Ask an owner or an admin of a team to invite you.</p>';
}

function teamHtml(team: PlanInUse, usagePath: string): string {
  const { members, numbers, webhooks, requestsPerMinute, standard } = plans[team.plan];
  return `<section><h2>${escapeHtml(team.teamName)}</h2><p>Plan: <b>${team.plan}</b></p>
<ul><li>Messages this month: ${used(team.sent, team.monthlyMessageLimit)}; they begin anew on ${team.resetsOn} (UTC)</li>
<li>Members, open invitations included: ${used(team.members, members)}</li>
<li>Numbers, pending ones included: ${used(team.numbers, numbers)}</li>
<li>Webhooks: ${used(team.webhooks, webhooks)}</li>
<li>Requests per minute: ${amount(requestsPerMinute)}</li>
<li>The event message.delivered: ${standard ? 'included' : `from the plan ${firstStandard} on`}</li></ul>
${raiseHtml(team)}
<p><a href="${escapeHtml(usagePath)}">See the usage of ${escapeHtml(team.teamName)}</a></p></section>`;
}

/** Tells the person which plan to ask the administrator for, or that no plan allows more. */
function raiseHtml({ teamId, plan, monthlyMessageLimit }: PlanInUse): string {
  const isBelowPlan = monthlyMessageLimit < plans[plan].monthlyMessages;
  const next = planNames[planNames.indexOf(plan) + 1] ?? (isBelowPlan ? plan : undefined);
  if (next === undefined) return '<p class="quiet">No plan allows more.</p>';
  return `<p>To raise the limits, ask your administrator for the plan <b>${next}</b>, and tell them the id of the team:</p>
<code class="value">${teamId}</code>
<p class="quiet">They can allow another number of messages than the plan’s, too.</p>`;
}

function planHtml(name: PlanName): string {
  const { monthlyMessages, members, numbers, webhooks, requestsPerMinute, standard } = plans[name];
  return `<li><b>${name}</b>: ${amount(monthlyMessages)} messages a month, ${counted(members, 'member')}, ${counted(numbers, 'number')}, ${counted(webhooks, 'webhook')}, ${amount(requestsPerMinute)} requests a minute, ${standard ? 'with' : 'without'} the event message.delivered</li>`;
}

function used(count: number, limit: number): string {
  return isUnlimited(limit) ? `${amount(count)}, unlimited` : `${amount(count)} of ${amount(limit)}`;
}

function counted(limit: number, noun: string): string {
  return `${amount(limit)} ${noun}${limit === 1 ? '' : 's'}`;
}

function amount(count: number): string {
  return isUnlimited(count) ? 'unlimited' : count.toLocaleString('en');
}

/** The maximum of a limit is shown as unlimited (specification section 8). */
function isUnlimited(limit: number): boolean {
  return limit >= plans.enterprise.monthlyMessages;
}
