import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { AccountOverview, AccountTeam } from '#contract/account.ts';
import { allows, type Permission, type PersonalPermission, roleGrants } from '#contract/permissions.ts';
import { request } from '#web/api/request.ts';

export const overviewQuery = {
  queryKey: ['account'],
  queryFn: () => request<AccountOverview>('GET', '/app/account'),
  initialData: readOverview,
};

/** The page brings the signed-in account along, which saves the first request. */
function readOverview(): AccountOverview | undefined {
  const text = document.getElementById('overview')?.textContent;
  return text ? (JSON.parse(text) as AccountOverview) : undefined;
}

/** The signed-in account and its teams. */
export function useOverview(): AccountOverview {
  const { data } = useQuery(overviewQuery);
  if (!data) throw new Error('the page brought no account along');
  return data;
}

export interface CurrentTeam extends AccountTeam {
  /** Whether this person may do it. The server decides again at each request. */
  readonly can: (permission: Permission | PersonalPermission) => boolean;
}

/** The team of the address, or undefined where the person is not in it. */
export function useFoundTeam(): CurrentTeam | undefined {
  const { teamId } = useParams({ strict: false }) as { readonly teamId?: string };
  const team = useOverview().teams.find(({ id }) => id === teamId);
  return team && { ...team, can: (permission) => allows(roleGrants[team.role], permission) };
}

/** The team of the address; for pages of a team. */
export function useTeam(): CurrentTeam {
  const team = useFoundTeam();
  if (!team) throw new Error('a page of a team was shown without a team');
  return team;
}
