import type { ReactNode } from 'react';
import { useTeam } from '#web/shell/session.ts';
import { useAdministratorNames } from '#web/team/administrators.ts';

const owners = ['owner'] as const;

/** The person to ask for a larger plan: the operator of the server gives it, and owners speak for the team. */
export function PlanHelp(): ReactNode {
  const { role } = useTeam();
  const names = useAdministratorNames(owners);
  return role === 'owner'
    ? 'The operator of this server can give your team a larger plan.'
    : `For a larger plan, ask ${names}.`;
}
