import { AccountOverview } from '#contract/account.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { type Route, route } from '#server/platform/http/route.ts';
import { readOverview } from './read-overview.ts';

/** Serves the signed-in account and its teams (specification section 12.3). */
export function overviewRoutes(services: Pick<Runtime, 'database' | 'restoreHold'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/account',
      audience: 'account',
      answers: { 200: AccountOverview },
      handle: async ({ signedIn }) => ({ body: await readOverview(services, signedIn.accountId) }),
    }),
  ];
}
