import type { Route } from '#server/platform/http/route.ts';

/**
 * Serves every operation of /v1 to the members of a team as well (decision 0014). It keeps the handler and the schemas,
 * and uses the member authenticator and the member's permission, if that is a lesser one. A list may have an answer of
 * its own. `PUT /v1/numbers/:id` becomes `PUT /app/teams/:team_id/numbers/:id`.
 */
export function forMembers(routes: readonly Route[]): Route[] {
  return routes
    .filter((route) => route.audience === 'api')
    .map(({ text: _text, memberPermission, ofMembers, ...route }) => ({
      ...route,
      ...ofMembers,
      ...(memberPermission === undefined ? {} : { permission: memberPermission }),
      audience: 'team',
      path: route.path.replace(/^\/v1/, '/app/teams/:team_id'),
    }));
}
