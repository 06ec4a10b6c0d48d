import type { Route } from '#server/platform/http/route.ts';

/**
 * Serves every operation of /v1 to the members of a team, too (decision 0014). Handler and schemas are the same. The
 * member authenticator replaces the authenticator of API keys, and an operation may require a lesser permission of
 * members. A list may answer with more fields. `PUT /v1/numbers/:id` becomes `PUT /app/teams/:team_id/numbers/:id`.
 */
export function forMembers(routes: readonly Route[]): Route[] {
  return routes
    .filter((route) => route.audience === 'api')
    .map(({ text: _text, ofMembers, ...route }) => ({
      ...route,
      ...ofMembers,
      audience: 'team',
      path: route.path.replace(/^\/v1/, '/app/teams/:team_id'),
    }));
}
