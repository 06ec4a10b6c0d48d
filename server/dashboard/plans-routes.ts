import { isPlanName } from '#contract/plans.ts';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { formRoutes } from '#server/http/form-route.ts';
import { redirectTo, withAppBasePath } from '#server/http/html.ts';
import type { Route, SignedIn } from '#server/http/route.ts';
import { invalid, notFound } from '#server/platform/app-error.ts';
import { type AccountId, parseId, publicId } from '#server/platform/ids.ts';
import { monthOf, startOfNextMonth } from '#server/platform/time/calendar.ts';
import { choosePlan } from '#server/teams/members/change-team.ts';
import { findMembership, listMemberships, type MembershipRow } from '#server/teams/members/members.ts';
import { planChoice } from '#server/teams/team/plans.ts';
import { findMonthUsage } from '#server/usage/usage.ts';
import { countResources } from './plan-usage.ts';
import { type PlanInUse, type PlanNotice, type PlansPage, plansPage } from './plans-page.ts';

type Services = Runtime & { readonly requireSession: RequireSession };

/**
 * Routes of the page that every `upgrade_url` points to; it needs no script. Its form
 * changes the plan of an owner's team.
 */
export function plansRoutes(services: Services): Route[] {
  const { config, database, requireSession } = services;
  const base = withAppBasePath(config.appUrl, '');
  const show = async (signedIn: SignedIn | undefined, shown: Omit<PlansPage, 'base'>) =>
    plansPage(signedIn && (await plansInUse(services, signedIn.accountId)), { base, ...shown });

  return formRoutes({
    path: '/billing',
    fields: ['team_id', 'plan', 'in_place_of'],
    audit: 'team.plan_changed',
    show: async ({ request, query }, refused) => {
      const notice = refused
        ? { teamId: refused.form.team_id, text: refused.error.message, isRefused: true }
        : doneNotice(query);
      return show(await findSignedIn(requireSession, request), { notice });
    },
    submit: async ({ request }, { team_id: publicTeamId, plan, in_place_of: confirmed }) => {
      const signedIn = await findSignedIn(requireSession, request);
      if (!signedIn) return redirectTo(config.appUrl, '/sign-in?next=/billing');
      const teamId = parseId('team', publicTeamId);
      const membership =
        teamId && (await findMembership(database.pool, { teamId, accountId: signedIn.accountId }));
      if (!membership) throw notFound('team');
      if (!isPlanName(plan)) throw invalid('plan', 'Choose a plan of the list.');
      const by = {
        kind: 'member',
        id: publicId('usr', membership.member_id),
        name: signedIn.actor.name,
        ip: request.ip,
        requestId: request.id,
      } as const;
      const done = await choosePlan(services, teamId, plan, by, confirmed);
      if (done === 'unconfirmed') return show(signedIn, { question: { teamId: publicTeamId, plan } });
      return redirectTo(config.appUrl, `/billing?${done}=${publicTeamId}`);
    },
  });
}

/** The notices after a submit. The browser is sent to an address whose parameter selects the notice. */
const doneTexts = { changed: 'The plan is changed.', kept: 'The team has this plan already.' } as const;

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
  const memberships = await listMemberships(services.database.pool, { accountId });
  return Promise.all(memberships.map((membership) => planInUse(services, membership)));
}

async function planInUse(services: Services, membership: MembershipRow): Promise<PlanInUse> {
  const { config, database, clock } = services;
  const { team_id: teamId, role } = membership;
  const now = clock.now();
  return {
    teamId: publicId('team', teamId),
    teamName: membership.team_name,
    plan: membership.plan,
    monthlyMessageLimit: membership.monthly_message_limit,
    sent: await findMonthUsage(database.pool, { teamId, month: monthOf(now) }),
    resetsAt: startOfNextMonth(now),
    choice: role === 'owner' ? planChoice(config, membership) : undefined,
    operatorEmails: config.operatorEmails,
    ...(await countResources(services, teamId)),
  };
}
