import { isUnlimited, limitText, planLines, planTitles } from '#contract/plan-texts.ts';
import { type PlanName, planNames, plans } from '#contract/plans.ts';
import { escapeHtml } from '#server/platform/escape-html.ts';
import { pageHeadersFor, renderPage } from '#server/platform/http/html-page.ts';
import { dayForPeople } from '#server/platform/time/day-for-people.ts';
import type { ResourceCounts } from './plan-usage.ts';

/** A team's plan, and how much of its limits is used. */
export interface PlanInUse extends ResourceCounts {
  /** `team_…` */
  readonly teamId: string;
  readonly teamName: string;
  readonly plan: PlanName;
  readonly monthlyMessageLimit: number;
  /** Messages that count against the month's limit. */
  readonly sent: number;
  /** The start of the next month, when the count of messages begins at 0 again. */
  readonly resetsAt: Date;
}

const style = `
body:has(main.plans) { --column: 64rem; }
.grid { display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); margin-top: 0.75rem; }
.plan { border: 1px solid var(--line); border-radius: 8px; padding: 0.75rem 1rem; }
h3 { font-size: 0.9375rem; font-weight: 600; margin: 0 0 0.5rem; }
dl { margin: 0; font-size: 0.875rem; }
dl > div { display: flex; justify-content: space-between; gap: 0.75rem; border-top: 1px solid var(--line); padding: 0.375rem 0; }
dt { color: var(--quiet); } dd { margin: 0; font-weight: 500; font-variant-numeric: tabular-nums; white-space: nowrap; }
.team-of { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.75rem; } .team-of h2 { margin: 0; }
.badge { border-radius: 99px; padding: 0.05rem 0.6rem; font-size: 0.8125rem; font-weight: 500; background: var(--accent-tint); color: var(--accent-ink); }
.sides { display: grid; gap: 0.5rem 2.5rem; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); margin-top: 0.75rem; }
.sides p:first-child { margin-top: 0; }`;

/** @param base the path of APP_URL, without a slash at its end */
export const plansPageHeaders = (base: string) => pageHeadersFor({ base, style });

/**
 * Renders the page about plans of a server that sells none (specification section 8), with the rows of the dashboard's
 * usage page.
 * @param teams undefined without a session
 * @param pathTo puts the path of APP_URL before a path
 */
export function renderPlans(
  teams: readonly PlanInUse[] | undefined,
  pathTo: (path: string) => string,
): string {
  return renderPage(
    'Plans and limits',
    `<main class="plans"><h1>Plans and limits</h1>
<p>Nothing is sold here. The operator of this server gives each team its plan, and can change it at any time.</p>
${teams === undefined ? `<p><a href="${escapeHtml(pathTo('/sign-in?next=/billing'))}">Sign in</a> to see the plans of your teams.</p>` : teamsHtml(teams, pathTo)}
<section><h2>Plans</h2>
<p class="quiet">Per team. On a smaller plan everything that a team has goes on working; only more is refused.</p>
<div class="grid">${planNames.map(planHtml).join('\n')}</div></section></main>`,
    { base: pathTo(''), style },
  );
}

function teamsHtml(teams: readonly PlanInUse[], pathTo: (path: string) => string): string {
  if (teams.length > 0) {
    return teams.map((team) => teamHtml(team, pathTo(`/teams/${team.teamId}/usage`))).join('\n');
  }
  return '<p>You are in no team yet. Ask an owner or an admin of a team to invite you.</p>';
}

function teamHtml(team: PlanInUse, usagePath: string): string {
  const { members, numbers, webhooks } = plans[team.plan];
  const lines = linesHtml([
    ['Messages sent this month', used(team.sent, team.monthlyMessageLimit)],
    ['Members and open invitations', used(team.members, members)],
    ['Numbers', used(team.numbers, numbers)],
    ['Webhooks', used(team.webhooks, webhooks)],
  ]);
  const name = escapeHtml(team.teamName);
  return `<section><div class="team-of"><h2>${name}</h2><span class="badge">Plan ${planTitles[team.plan]}</span></div>
<div class="sides">${lines}<div><p>Counting of messages begins anew on ${dayForPeople(team.resetsAt)}, at 0:00 UTC.</p>
${raiseHtml(team)}
<p><a href="${escapeHtml(usagePath)}">See the usage of ${name}</a></p></div></div></section>`;
}

/** Says which plan to ask the operator for, or that no plan allows more. */
function raiseHtml({ teamId, plan, monthlyMessageLimit }: PlanInUse): string {
  const isBelowPlan = monthlyMessageLimit < plans[plan].monthlyMessages;
  const next = planNames[planNames.indexOf(plan) + 1] ?? (isBelowPlan ? plan : undefined);
  if (next === undefined) return '<p class="quiet">No plan allows more.</p>';
  return `<p>For higher limits, ask the operator for the plan <b>${planTitles[next]}</b>, or for another number of messages than the plan’s. Give them the id of the team:</p>
<code class="value">${teamId}</code>`;
}

function planHtml(name: PlanName): string {
  return `<div class="plan"><h3>${planTitles[name]}</h3>${linesHtml(planLines.map(([text, textOf]) => [text, textOf(name)]))}</div>`;
}

function linesHtml(lines: readonly (readonly [string, string])[]): string {
  return `<dl>${lines.map(([text, value]) => `<div><dt>${text}</dt><dd>${value}</dd></div>`).join('')}</dl>`;
}

function used(count: number, limit: number): string {
  const amount = count.toLocaleString('en');
  return isUnlimited(limit) ? `${amount}, no limit` : `${amount} of ${limitText(limit)}`;
}
