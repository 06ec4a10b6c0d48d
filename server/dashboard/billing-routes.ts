import { Type } from 'typebox';
import { isPlanName } from '#contract/plans.ts';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError, invalid, notFound } from '#server/platform/app-error.ts';
import { withAppBasePath } from '#server/platform/http/app-base-path.ts';
import { parseForm } from '#server/platform/http/parse-form.ts';
import { type Answer, type HandlerContext, type Route, route } from '#server/platform/http/route.ts';
import { textFieldsSchema } from '#server/platform/http/text-fields-schema.ts';
import { type AccountId, parseId, publicId } from '#server/platform/ids/ids.ts';
import { monthOf, startOfNextMonth } from '#server/platform/time/calendar.ts';
import { choosePlan } from '#server/teams/members/choose-plan.ts';
import { findMembership, listMemberships, type MembershipRow } from '#server/teams/members/member-store.ts';
import { planChoice } from '#server/teams/team/plan-choice.ts';
import { findMonthUsage } from '#server/usage/usage-store.ts';
import {
  type PlanInUse,
  type PlanNotice,
  type PlansPage,
  plansPageHeaders,
  renderPlans,
} from './billing-page.ts';
import { countResources } from './plan-usage.ts';

type Services = Runtime & { readonly requireSession: RequireSession };

const html = Type.String();
const answers = Object.fromEntries([200, 303, 400, 403, 404, 409, 415, 503].map((status) => [status, html]));

/**
 * Routes of the page that every `upgrade_url` points to; it needs no script (specification section 8). Its form
 * changes the plan of an owner's team.
 */
export function billingRoutes(services: Services): Route[] {
  const { config, requireSession } = services;
  const pathTo = (path: string) => withAppBasePath(config.appUrl, path);

  const show = async (
    accountId: AccountId | undefined,
    shown: Pick<PlansPage, 'notice' | 'question'> = {},
    status = 200,
  ): Promise<Answer> => {
    const teams = accountId && (await plansInUse(services, accountId));
    const body = renderPlans(teams, { pathTo, ...shown });
    return { status, body, headers: plansPageHeaders(pathTo('')) };
  };

  const submit = async ({ request }: HandlerContext) => {
    const goTo = (location: string) => ({ status: 303, body: '', headers: { location: pathTo(location) } });
    const signedIn = await findSignedIn(requireSession, request);
    if (!signedIn) return goTo('/sign-in?next=/billing');
    // With this caller, the audit log records a refused attempt for the signed-in account.
    request.caller = { signedIn };
    const field = parseForm(request);
    const teamId = parseId('team', field('team_id'));
    const membership = teamId && (await findMembership(services.database.pool, teamId, signedIn.accountId));
    if (!membership) throw notFound('team');
    try {
      const plan = field('plan');
      if (!isPlanName(plan)) throw invalid('plan', 'Choose a plan of the list.');
      const by = {
        kind: 'member',
        id: publicId('usr', membership.member_id),
        name: signedIn.actor.name,
        ip: request.ip,
        requestId: request.id,
      } as const;
      const done = await choosePlan(services, teamId, plan, by, field('in_place_of'));
      if (done === 'unconfirmed')
        return show(signedIn.accountId, { question: { teamId: publicId('team', teamId), plan } });
      return goTo(`/billing?${done}=${publicId('team', teamId)}`);
    } catch (error) {
      if (!(error instanceof AppError) || error.status === 500) throw error;
      // The answer is the page with the error text. Metrics and the log still count it as an error.
      request.errorCode = error.code;
      const notice = { teamId: publicId('team', teamId), text: error.message, isRefused: true };
      return show(signedIn.accountId, { notice }, error.status);
    }
  };

  return [
    route({
      method: 'GET',
      path: '/billing',
      audience: 'page',
      answers: { 200: html },
      handle: async ({ request, query }) =>
        show((await findSignedIn(requireSession, request))?.accountId, { notice: doneNotice(query) }),
    }),
    route({
      method: 'POST',
      path: '/billing/plan',
      audience: 'page',
      looseBody: textFieldsSchema('team_id', 'plan', 'in_place_of'),
      audit: 'team.plan_changed',
      answers,
      handle: submit,
    }),
  ];
}

/** The parameter of the address that a submit leads to, and the notice of that page. */
const doneTexts = {
  changed: 'The plan is changed.',
  kept: 'The team has this plan already.',
} as const;

/** The notice after a submit. It is shown to a reader who is in the team. */
function doneNotice(query: unknown): PlanNotice | undefined {
  const values = new Map(Object.entries(query ?? {}));
  for (const [name, text] of Object.entries(doneTexts)) {
    const teamId: unknown = values.get(name);
    if (typeof teamId === 'string') return { teamId, text, isRefused: false };
  }
  return undefined;
}

/** The plans of an account's teams, in the order in which it joined them. */
async function plansInUse(services: Services, accountId: AccountId): Promise<PlanInUse[]> {
  const memberships = await listMemberships(services.database.pool, accountId);
  return Promise.all(memberships.map((membership) => planInUse(services, membership)));
}

async function planInUse(services: Services, membership: MembershipRow): Promise<PlanInUse> {
  const { config, database, clock } = services;
  const {
    team_id: teamId,
    team_name: teamName,
    plan,
    monthly_message_limit: monthlyMessageLimit,
  } = membership;
  const now = clock.now();
  const isOwner = membership.role === 'owner';
  return {
    teamId: publicId('team', teamId),
    teamName,
    plan,
    monthlyMessageLimit,
    sent: await findMonthUsage(database.pool, teamId, monthOf(now)),
    resetsAt: startOfNextMonth(now),
    choice: isOwner ? planChoice(config, membership) : undefined,
    operatorEmails: config.operatorEmails,
    ...(await countResources({ database, clock }, teamId)),
  };
}
