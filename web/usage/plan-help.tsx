import type { ReactNode } from 'react';
import { useTeam } from '#web/shell/session.ts';
import { useOwnerNames } from '#web/team/administrators.ts';
import { texts } from './texts.ts';

/** Names the person to ask for a larger plan: for owners the operator of the server, for other members the owners. */
export function PlanHelp(): ReactNode {
  const { role } = useTeam();
  const owners = useOwnerNames();
  return role === 'owner' ? texts.help.operator : texts.help.owners({ owners });
}
