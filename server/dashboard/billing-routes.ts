import { Type } from 'typebox';
import { findSignedIn, type RequireSession } from '#server/accounts/sessions/session-authenticator.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { countNumbers } from '#server/numbers/number-store.ts';
import { withAppBasePath } from '#server/platform/http/app-base-path.ts';
import { pageHeaders } from '#server/platform/http/html-page.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { type AccountId, publicId } from '#server/platform/ids/ids.ts';
import { dayOf, monthOf, startOfNextMonth } from '#server/platform/time/calendar.ts';
import { countSeats } from '#server/teams/invitations/seat-limit.ts';
import { listMemberships } from '#server/teams/members/member-store.ts';
import { findMonthUsage } from '#server/usage/usage-store.ts';
import { countWebhooks } from '#server/webhooks/endpoints/webhook-store.ts';
import { type PlanInUse, renderPlans } from './billing-page.ts';

/** The target of every `upgrade_url` (specification section 8). */
export function billingRoutes(services: Runtime & { readonly requireSession: RequireSession }): Route[] {
  const { config, requireSession } = services;
  const signInPath = withAppBasePath(config.appUrl, '/sign-in?next=/billing');
  return [
    route({
      method: 'GET',
      path: '/billing',
      audience: 'page',
      answers: { 200: Type.String() },
      handle: async ({ request }) => {
        const signedIn = await findSignedIn(requireSession, request);
        const teams = signedIn && (await plansInUse(services, signedIn.accountId));
        return { body: renderPlans(teams, signInPath), headers: pageHeaders };
      },
    }),
  ];
}

/** The plans of an account's teams, in the order in which they were joined. */
async function plansInUse(
  { database: { pool }, clock }: Pick<Runtime, 'database' | 'clock'>,
  accountId: AccountId,
): Promise<PlanInUse[]> {
  const now = clock.now();
  const memberships = await listMemberships(pool, accountId);
  return Promise.all(
    memberships.map(async ({ team_id: teamId, team_name: teamName, plan, monthly_message_limit }) => ({
      teamId: publicId('team', teamId),
      teamName,
      plan,
      monthlyMessageLimit: monthly_message_limit,
      sent: await findMonthUsage(pool, teamId, monthOf(now)),
      resetsOn: dayOf(startOfNextMonth(now)),
      members: await countSeats(pool, { clock }, teamId),
      numbers: await countNumbers(pool, teamId),
      webhooks: await countWebhooks(pool, teamId),
    })),
  );
}
