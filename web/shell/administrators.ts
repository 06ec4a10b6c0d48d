import { useQuery } from '@tanstack/react-query';
import type { Role } from '#contract/permissions.ts';
import { eitherOf } from '#web/kit/format.ts';
import { membersQuery } from '#web/team/member-queries.ts';
import { useTeam } from './session.ts';
import { texts } from './texts.ts';

const namesMax = 3;
const administrators: readonly Role[] = ['owner', 'admin'];

/** Names of members with one of these roles, as people to ask: `Ada Example or Sam Example`. */
export function useAdministratorNames(roles = administrators): string {
  const team = useTeam();
  const members = useQuery(membersQuery(team.id)).data?.members ?? [];
  const names = members.filter(({ role }) => roles.includes(role)).map(({ name }) => name);
  if (names.length > 0) return eitherOf(names.slice(0, namesMax));
  return roles.includes('admin') ? texts.toAsk.admin : texts.toAsk.owner;
}

const owners: readonly Role[] = ['owner'];

export const useOwnerNames = (): string => useAdministratorNames(owners);
