import type { ReactNode } from 'react';
import { useTeam } from '#web/shell/session.ts';
import { useOwnerNames } from '#web/team/administrators.ts';

/** Names the person to ask for a larger plan: for owners the operator of the server, for other members the owners. */
export function PlanHelp(): ReactNode {
  const { role } = useTeam();
  const names = useOwnerNames();
  return role === 'owner'
    ? 'The operator of this server can give your team a larger plan.'
    : `For a larger plan, ask ${names}.`;
}
