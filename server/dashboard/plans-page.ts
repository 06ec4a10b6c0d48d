import { isUnlimited, limitText, planLines, planTitles } from '#contract/plan-texts.ts';
import { type Plan, type PlanName, planNames, plans } from '#contract/plans.ts';
import { type Html, html, pageAnswer } from '#server/http/html.ts';
import type { Answer } from '#server/http/route.ts';
import { commandLine } from '#server/platform/process/product-version.ts';
import { dayForPeople } from '#server/platform/time/calendar.ts';
import { hasOwnLimit, isSmaller, type PlanChoice } from '#server/teams/team/plans.ts';
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
  /** The plans that the reader may choose, and those of the operator; undefined for a reader who is no owner of the team. */
  readonly choice: PlanChoice | undefined;
  readonly operatorEmails: readonly string[];
}

/** A submit of the page's form: its success, or its refusal with the error's text. */
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

/** Parameters of all parts of the page. */
export interface PlansPage {
  /** The path of APP_URL, without a slash at its end. */
  readonly base: string;
  readonly notice?: PlanNotice | undefined;
  /** A smaller plan that an owner chose and did not confirm. */
  readonly question?: { readonly teamId: string; readonly plan: PlanName };
}

/**
 * The page about plans, with the rows of the dashboard's usage page. On it, owners choose a plan or read how the
 * operator gives one.
 * @param teams undefined without a session
 */
export function plansPage(teams: readonly PlanInUse[] | undefined, page: PlansPage): Answer {
  const { base, notice } = page;
  return pageAnswer(
    'Plans and limits',
    html`<main class="plans"><h1>Plans and limits</h1>
<p>A plan is a set of limits that the operator of this server gives a team. Ownline sells no plans.</p>
${notice?.isRefused && !teams?.some(({ teamId }) => teamId === notice.teamId) && noticeHtml(notice)}
${teams === undefined ? html`<p><a href="${base}/sign-in?next=/billing">Sign in</a> to see the plans of your teams.</p>` : teamsHtml(teams, page)}
<section><h2>Plans</h2>
<p class="quiet">Per team. On a smaller plan everything that a team has goes on working; only more is refused.</p>
<div class="grid">${planNames.map(planHtml)}</div></section></main>`,
    { base, style },
  );
}

function teamsHtml(teams: readonly PlanInUse[], page: PlansPage): Html {
  if (teams.length > 0) return html`${teams.map((team) => teamHtml(team, page))}`;
  return html`<p>You are in no team yet. Ask an owner or an admin of a team to invite you.</p>`;
}

function teamHtml(team: PlanInUse, page: PlansPage): Html {
  const limits = { ...plans[team.plan], monthlyMessages: team.monthlyMessageLimit };
  const lines = linesHtml(counted(team, limits).map(([text, count, limit]) => [text, used(count, limit)]));
  const { question, notice } = page;
  return html`<section id="${team.teamId}"><div class="team-of"><h2>${team.teamName}</h2><span class="badge">Plan ${planTitles[team.plan]}</span></div>${notice?.teamId === team.teamId && noticeHtml(notice)}
<div class="sides">${lines}<div><p>Counting of messages begins anew on ${dayForPeople(team.resetsAt)}, at 0:00 UTC.</p>
<p><a href="${page.base}/teams/${team.teamId}/usage">See the usage of ${team.teamName}</a></p></div></div>
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
function questionHtml(team: PlanInUse, plan: PlanName, { base }: PlansPage): Html {
  const [from, to] = [planTitles[team.plan], planTitles[plan]];
  const reached = counted(team, plans[plan]).filter(([, count, limit]) => count >= limit);
  const items = reached.map(([text, count, limit]) => html`<li>${text}: ${used(count, limit)}</li>`);
  const stops =
    items.length === 0
      ? html`<p>What the team uses now fits into ${to}.</p>`
      : html`<p>Everything that the team has goes on working. But ${to} allows no more of these:</p><ul>${items}</ul>`;
  const lacks =
    plans[team.plan].standard &&
    !plans[plan].standard &&
    html`<p>On ${to}, messages with files are refused, and there are no delivery events.</p>`;
  const back =
    team.choice?.mayReturn === false && html`<p>Only the operator can give the plan ${from} again.</p>`;
  return html`<div class="manage"><h3>Change from ${from} to ${to}?</h3>${stops}${lacks}${back}
<form method="post" action="${base}/billing"><input type="hidden" name="team_id" value="${team.teamId}"><input type="hidden" name="plan" value="${plan}"><input type="hidden" name="in_place_of" value="${team.plan}"><button type="submit">Change to ${to}</button></form>
<form action="${base}/billing"><button class="second" type="submit">Keep ${from}</button></form></div>`;
}

function noticeHtml({ text, isRefused }: PlanNotice): Html {
  return html`<p class="${isRefused ? 'error' : 'done'}" role="${isRefused ? 'alert' : 'status'}">${text}</p>`;
}

/** The form of an owner; for others a sentence that says who manages the plan. */
function manageHtml(team: PlanInUse, page: PlansPage): Html {
  const { choice, plan, monthlyMessageLimit } = team;
  if (choice === undefined) {
    return html`<p class="quiet manage">Owners of the team manage its plan. Ask one of them for higher limits.</p>`;
  }
  const { choosable, ofOperator } = choice;
  if (
    choosable.length === 0 &&
    ofOperator.every((name) => isSmaller(name, plan)) &&
    isUnlimited(monthlyMessageLimit)
  ) {
    return html`<p class="quiet manage">No plan allows more.</p>`;
  }
  const ownLimit =
    hasOwnLimit({ plan, monthly_message_limit: monthlyMessageLimit }) &&
    html`<p>The operator set the messages of this team apart from its plan, which has ${limitText(plans[plan].monthlyMessages)}. So only the operator changes the plan.</p>`;
  return html`<div class="manage">${ownLimit}${chooseHtml(team, choice, page)}${operatorHtml(team, choice)}</div>`;
}

/** Renders the form, which offers the next larger plan first, and no plan if all are smaller. */
function chooseHtml(
  { teamId, teamName, plan }: PlanInUse,
  { choosable, mayReturn }: PlanChoice,
  { base }: PlansPage,
): Html | undefined {
  if (choosable.length === 0) return undefined;
  const back = mayReturn ? '' : ` Only the operator can give the plan ${planTitles[plan]} again.`;
  const names = largerFirst(choosable, plan);
  const none = names.every((name) => isSmaller(name, plan)) && html`<option value="">Choose one</option>`;
  const options = names.map((name) => html`<option value="${name}">${planTitles[name]}</option>`);
  const label = 'Choose a plan';
  return html`<form method="post" action="${base}/billing"><input type="hidden" name="team_id" value="${teamId}">
<label>${label}<select name="plan" required aria-label="${label}, for ${teamName}">${none}${options}</select></label><button type="submit">Change the plan</button></form>
<p class="quiet">The new limits hold at once.${back}</p>`;
}

function largerFirst(names: readonly PlanName[], plan: PlanName): PlanName[] {
  return [
    ...names.filter((name) => !isSmaller(name, plan)),
    ...names.filter((name) => isSmaller(name, plan)),
  ];
}

/** Says with which command the operator gives another plan, and at which address to ask for it. */
function operatorHtml(
  { teamId, plan, operatorEmails }: PlanInUse,
  { ofOperator }: PlanChoice,
): Html | undefined {
  const [next] = largerFirst(ofOperator, plan);
  if (next === undefined) return undefined;
  const names = ofOperator.map((name) => planTitles[name]).join(', ');
  const mails = operatorEmails.map(
    (email, index) => html`${index > 0 && ' or '}<a href="mailto:${email}">${email}</a>`,
  );
  return html`<p>Only the operator of this server gives these plans: ${names}.${mails.length > 0 && html` Write to ${mails}.`} This is the command:</p>
<code class="value">${commandLine} team set-plan --team ${teamId} --plan ${next}</code>`;
}

function planHtml(name: PlanName): Html {
  return html`<div class="plan"><h3>${planTitles[name]}</h3>${linesHtml(planLines.map(([text, textOf]) => [text, textOf(name)]))}</div>`;
}

function linesHtml(lines: readonly (readonly [string, string])[]): Html {
  return html`<dl>${lines.map(([text, value]) => html`<div><dt>${text}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function used(count: number, limit: number): string {
  const amount = count.toLocaleString('en');
  return isUnlimited(limit) ? `${amount}, no limit` : `${amount} of ${limitText(limit)}`;
}
