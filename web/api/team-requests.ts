import type { QueryKey, UseQueryOptions } from '@tanstack/react-query';
import type { ResourceType } from '#contract/change.ts';
import { type Method, request } from './request.ts';

/** Query parameters; undefined and '' are not sent. */
type Parameters = Readonly<Record<string, string | number | undefined>>;

/** Calls an operation of a team: `/numbers` becomes `/app/teams/<id>/numbers`. */
export function teamRequest<Answer>(
  teamId: string,
  method: Method,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer> {
  return request(method, `/app/teams/${teamId}${path}`, { body, headers });
}

/**
 * Reads a resource of a team. The query key begins with team and resource type, so that the live stream can invalidate
 * all reads of a type.
 */
export function teamQuery<Answer>(
  teamId: string,
  resource: ResourceType,
  path: string,
  parameters: Parameters = {},
): Pick<UseQueryOptions<Answer, Error, Answer, QueryKey>, 'queryFn'> & { queryKey: QueryKey } {
  const pathWithQuery = withQuery(path, parameters);
  return {
    queryKey: [teamId, resource, pathWithQuery],
    queryFn: ({ signal }) => readTeam<Answer>(teamId, pathWithQuery, {}, signal),
  };
}

/** Reads a resource of a team, such as a page of a list, for a query with a key of its own. */
export const readTeam = <Answer>(
  teamId: string,
  path: string,
  parameters: Parameters = {},
  signal?: AbortSignal,
): Promise<Answer> => request('GET', `/app/teams/${teamId}${withQuery(path, parameters)}`, { signal });

function withQuery(path: string, parameters: Parameters): string {
  const query = new URLSearchParams(
    Object.entries(parameters).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  ).toString();
  return query === '' ? path : `${path}?${query}`;
}
