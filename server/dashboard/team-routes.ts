import type { Route } from '#server/platform/http/route.ts';

/**
 * Every operation of /v1 for the members of a team as well (decision 0014): the same handler, schemas and permission
 * behind another authenticator, or the lesser permission that members have for it. `PUT /v1/numbers/:id` is
 * `PUT /app/teams/:team_id/numbers/:id` to them.
 */
export function forMembers(routes: readonly Route[]): Route[] {
  return routes
    .filter((route) => route.audience === 'api')
    .map(({ text: _text, memberPermission, ...route }) => ({
      ...route,
      ...(memberPermission === undefined ? {} : { permission: memberPermission }),
      audience: 'team',
      path: route.path.replace(/^\/v1/, '/app/teams/:team_id'),
    }));
}
