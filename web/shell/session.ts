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

/** Reads the signed-in account from the page, which saves the first request. */
function readOverview(): AccountOverview | undefined {
  const text = document.getElementById('overview')?.textContent;
  return text ? (JSON.parse(text) as AccountOverview) : undefined;
}

export function useOverview(): AccountOverview {
  const { data } = useQuery(overviewQuery);
  if (!data) throw new Error('the page was served without an account');
  return data;
}

export interface CurrentTeam extends AccountTeam {
  /** Whether the person has a permission. The server checks again at each request. */
  readonly can: (permission: Permission | PersonalPermission) => boolean;
}

/** The team in the page's address; undefined if the person is no member of it. */
export function useFoundTeam(): CurrentTeam | undefined {
  const teamId = useParams({ from: '/teams/$teamId', shouldThrow: false })?.teamId;
  const team = useOverview().teams.find(({ id }) => id === teamId);
  return team && { ...team, can: (permission) => allows(roleGrants[team.role], permission) };
}

/** The team in the page's address, for pages that only members see. */
export function useTeam(): CurrentTeam {
  const team = useFoundTeam();
  if (!team) throw new Error('a page of a team was shown without a team');
  return team;
}
