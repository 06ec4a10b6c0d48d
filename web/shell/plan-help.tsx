import type { ReactNode } from 'react';
import { useOwnerNames } from './administrators.ts';
import { useTeam } from './session.ts';
import { texts } from './texts.ts';

/** Names the person to ask for a larger plan: for owners the operator of the server, for other members the owners. */
export function PlanHelp(): ReactNode {
  const { role } = useTeam();
  const owners = useOwnerNames();
  return role === 'owner' ? texts.toAsk.operatorForPlan : texts.toAsk.forPlan({ owners });
}
