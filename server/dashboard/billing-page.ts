import { isUnlimited, limitText, planLines, planTitles } from '#contract/plan-texts.ts';
import { type Plan, type PlanName, planNames, plans } from '#contract/plans.ts';
import { escapeHtml } from '#server/platform/escape-html.ts';
import { pageHeadersFor, renderPage } from '#server/platform/http/html-page.ts';
import { dayForPeople } from '#server/platform/time/day-for-people.ts';
import { hasOwnLimit, isSmaller, type PlanChoice } from '#server/teams/team/plan-choice.ts';
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
  /** The plans that the reader may choose or ask for; undefined for a reader who is no owner of the team. */
  readonly choice: PlanChoice | undefined;
  /** Requests for another plan of the last day, newest first; only for owners. */
  readonly asked: readonly AskedPlan[];
}

interface AskedPlan {
  readonly plan: PlanName;
  readonly at: Date;
  /** Whether a mail to the operator was queued; otherwise the page shows the command to pass on. */
  readonly isMailed: boolean;
  readonly command: string;
}

/** A submit of one of the page's forms: its success, or its refusal with the error's text. */
export interface PlanNotice {
  readonly teamId: string;
  readonly text: string;
  readonly isRefused: boolean;
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
.sides p:first-child { margin-top: 0; }
.manage { border-top: 1px solid var(--line); margin-top: 0.75rem; padding-top: 0.75rem; }
.manage form { display: flex; flex-wrap: wrap; align-items: end; gap: 0.5rem; margin: 0.5rem 0; }
.manage label { flex: 1 1 12rem; } .manage button { flex: 0 1 auto; width: auto; margin: 0; }
@media (max-width: 30rem) { .manage button { flex: 1 1 100%; } }
select { font: inherit; display: block; width: 100%; min-height: 44px; padding: 0.5rem 0.7rem; margin-top: 0.3rem; border: 1px solid var(--line-strong); border-radius: 8px; background: var(--surface); color: inherit; }
@media (pointer: coarse) { select { font-size: 16px; } }`;

/** @param base the path of APP_URL, without a slash at its end */
export const plansPageHeaders = (base: string) => pageHeadersFor({ base, style });

/** Parameters of all parts of the page. */
export interface PlansPage {
  /** Puts the path of APP_URL before a path. */
  readonly pathTo: (path: string) => string;
  readonly notice?: PlanNotice | undefined;
  /** A smaller plan that an owner chose and did not confirm. */
  readonly question?: { readonly teamId: string; readonly plan: PlanName };
}

/**
 * Renders the page about plans (specification section 8), with the rows of the dashboard's usage page. Owners choose a
 * plan there or ask the operator for one.
 * @param teams undefined without a session
 */
export function renderPlans(teams: readonly PlanInUse[] | undefined, page: PlansPage): string {
  const { pathTo } = page;
  return renderPage(
    'Plans and limits',
    `<main class="plans"><h1>Plans and limits</h1>
<p>A plan is a set of limits that the operator of this server gives a team. Ownline sells no plans.</p>
${teams === undefined ? `<p><a href="${escapeHtml(pathTo('/sign-in?next=/billing'))}">Sign in</a> to see the plans of your teams.</p>` : teamsHtml(teams, page)}
<section><h2>Plans</h2>
<p class="quiet">Per team. On a smaller plan everything that a team has goes on working; only more is refused.</p>
<div class="grid">${planNames.map(planHtml).join('\n')}</div></section></main>`,
    { base: pathTo(''), style },
  );
}

function teamsHtml(teams: readonly PlanInUse[], page: PlansPage): string {
  if (teams.length > 0) {
    return teams.map((team) => teamHtml(team, page)).join('\n');
  }
  return '<p>You are in no team yet. Ask an owner or an admin of a team to invite you.</p>';
}

function teamHtml(team: PlanInUse, page: PlansPage): string {
  const limits = { ...plans[team.plan], monthlyMessages: team.monthlyMessageLimit };
  const lines = linesHtml(counted(team, limits).map(([text, count, limit]) => [text, used(count, limit)]));
  const { question } = page;
  const name = escapeHtml(team.teamName);
  const notice = page.notice?.teamId === team.teamId ? noticeHtml(page.notice) : '';
  const usagePath = page.pathTo(`/teams/${team.teamId}/usage`);
  return `<section id="${team.teamId}"><div class="team-of"><h2>${name}</h2><span class="badge">Plan ${planTitles[team.plan]}</span></div>${notice}
<div class="sides">${lines}<div><p>Counting of messages begins anew on ${dayForPeople(team.resetsAt)}, at 0:00 UTC.</p>
<p><a href="${escapeHtml(usagePath)}">See the usage of ${name}</a></p></div></div>
${question?.teamId === team.teamId ? questionHtml(team, question.plan, page) : manageHtml(team, page)}</section>`;
}

/** Lists what a plan limits, apart from requests: its name, a team's count and the limit. */
function counted(team: PlanInUse, limits: Plan): readonly (readonly [string, number, number])[] {
  return [
    ['Messages sent this month', team.sent, limits.monthlyMessages],
    ['Members and open invitations', team.members, limits.members],
    ['Numbers', team.numbers, limits.numbers],
    ['Webhooks', team.webhooks, limits.webhooks],
  ];
}

/** Asks whether an owner wants a smaller plan, and says what it stops. */
function questionHtml(team: PlanInUse, plan: PlanName, { pathTo }: PlansPage): string {
  const [from, to] = [planTitles[team.plan], planTitles[plan]];
  const reached = counted(team, plans[plan]).filter(([, count, limit]) => count >= limit);
  const items = reached.map(([text, count, limit]) => `<li>${text}: ${used(count, limit)}</li>`).join('');
  const stops =
    items === ''
      ? `<p>What the team uses now fits into ${to}.</p>`
      : `<p>Everything that the team has goes on working. But ${to} allows no more of these:</p><ul>${items}</ul>`;
  const lacks =
    plans[team.plan].standard && !plans[plan].standard
      ? `<p>On ${to}, messages with files are refused, and there are no delivery events.</p>`
      : '';
  const back =
    team.choice?.mayReturn === false ? `<p>Only the operator can give the plan ${from} again.</p>` : '';
  return `<div class="manage"><h3>Change from ${from} to ${to}?</h3>${stops}${lacks}${back}
<form method="post" action="${escapeHtml(pathTo('/billing/plan'))}"><input type="hidden" name="team_id" value="${team.teamId}"><input type="hidden" name="plan" value="${plan}"><input type="hidden" name="in_place_of" value="${team.plan}"><button type="submit">Change to ${to}</button></form>
<form action="${escapeHtml(pathTo('/billing'))}"><button class="second" type="submit">Keep ${from}</button></form></div>`;
}

function noticeHtml({ text, isRefused }: PlanNotice): string {
  return `<p class="${isRefused ? 'error' : 'done'}" role="${isRefused ? 'alert' : 'status'}">${escapeHtml(text)}</p>`;
}

/** The forms of an owner; for others a sentence that says who manages the plan. */
function manageHtml(team: PlanInUse, page: PlansPage): string {
  const { choice, plan, monthlyMessageLimit } = team;
  if (choice === undefined) {
    return '<p class="quiet manage">Owners of the team manage its plan. Ask one of them for higher limits.</p>';
  }
  const { choosable, askable } = choice;
  if (
    choosable.length === 0 &&
    askable.every((name) => isSmaller(name, plan)) &&
    isUnlimited(monthlyMessageLimit)
  ) {
    return '<p class="quiet manage">No plan allows more.</p>';
  }
  const ownLimit = hasOwnLimit({ plan, monthly_message_limit: monthlyMessageLimit })
    ? `<p>The operator set the messages of this team apart from its plan, which has ${limitText(plans[plan].monthlyMessages)}. So only the operator changes the plan.</p>`
    : '';
  return `<div class="manage">${ownLimit}${chooseHtml(team, choice, page)}${askHtml(team, choice, page)}${askedHtml(team)}</div>`;
}

function chooseHtml(team: PlanInUse, { choosable, mayReturn }: PlanChoice, { pathTo }: PlansPage): string {
  if (choosable.length === 0) return '';
  const button = '<button type="submit">Change the plan</button>';
  const back = mayReturn ? '' : ` Only the operator can give the plan ${planTitles[team.plan]} again.`;
  return `${formHtml(team, pathTo('/billing/plan'), 'Choose a plan', choosable, button)}
<p class="quiet">The new limits hold at once.${back}</p>`;
}

function askHtml(team: PlanInUse, { choosable, askable }: PlanChoice, { pathTo }: PlansPage): string {
  if (askable.length === 0) return '';
  const label = 'Ask the operator of this server for a plan';
  const look = choosable.length === 0 ? '' : ' class="second"';
  const button = `<button${look} type="submit">Ask for this plan</button>`;
  return formHtml(team, pathTo('/billing/request'), label, askable, button);
}

/** Renders a form that offers the next larger plan first, and no plan if all are smaller. */
function formHtml(
  { teamId, teamName, plan }: PlanInUse,
  action: string,
  label: string,
  names: readonly PlanName[],
  button: string,
): string {
  const larger = names.filter((name) => !isSmaller(name, plan));
  const none = larger.length === 0 ? '<option value="">Choose one</option>' : '';
  const options = [...larger, ...names.filter((name) => isSmaller(name, plan))]
    .map((name) => `<option value="${name}">${planTitles[name]}</option>`)
    .join('');
  return `<form method="post" action="${escapeHtml(action)}"><input type="hidden" name="team_id" value="${teamId}">
<label>${label}<select name="plan" required aria-label="${label}, for ${escapeHtml(teamName)}">${none}${options}</select></label>${button}</form>`;
}

/** The requests of the last day. One without a mail to the operator has its command, to pass on. */
function askedHtml({ asked }: PlanInUse): string {
  return asked
    .map(({ plan, at, isMailed, command }) => {
      const when = `${dayForPeople(at)}, ${at.toISOString().slice(11, 16)} UTC`;
      const said = `<p>The operator was asked for the plan <b>${planTitles[plan]}</b> on ${when}.`;
      if (isMailed) return `${said} They got a mail.</p>`;
      return `${said} They got no mail, so give them this command:</p><code class="value">${command}</code>`;
    })
    .join('');
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
