import { Type } from 'typebox';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { withAppBasePath } from '#server/platform/http/app-base-path.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { type AccountId, publicId } from '#server/platform/ids/ids.ts';
import { monthOf, startOfNextMonth } from '#server/platform/time/calendar.ts';
import { listMemberships } from '#server/teams/members/member-store.ts';
import { findMonthUsage } from '#server/usage/usage-store.ts';
import { type PlanInUse, plansPageHeaders, renderPlans } from './billing-page.ts';
import { countResources } from './plan-usage.ts';

/** The page that every `upgrade_url` points to (specification section 8). */
export function billingRoutes(services: Runtime & { readonly requireSession: RequireSession }): Route[] {
  const { config, requireSession } = services;
  const pathTo = (path: string) => withAppBasePath(config.appUrl, path);
  return [
    route({
      method: 'GET',
      path: '/billing',
      audience: 'page',
      answers: { 200: Type.String() },
      handle: async ({ request }) => {
        const signedIn = await findSignedIn(requireSession, request);
        const teams = signedIn && (await plansInUse(services, signedIn.accountId));
        return { body: renderPlans(teams, pathTo), headers: plansPageHeaders(pathTo('')) };
      },
    }),
  ];
}

/** The plans of an account's teams, in the order in which it joined them. */
async function plansInUse(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  accountId: AccountId,
): Promise<PlanInUse[]> {
  const now = clock.now();
  const memberships = await listMemberships(database.pool, accountId);
  return Promise.all(
    memberships.map(async ({ team_id: teamId, team_name: teamName, plan, monthly_message_limit }) => ({
      teamId: publicId('team', teamId),
      teamName,
      plan,
      monthlyMessageLimit: monthly_message_limit,
      sent: await findMonthUsage(database.pool, teamId, monthOf(now)),
      resetsAt: startOfNextMonth(now),
      ...(await countResources({ database, clock }, teamId)),
    })),
  );
}
