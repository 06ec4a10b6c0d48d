import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { planTitles } from '#contract/plan-texts.ts';
import type { PlanUsage } from '#contract/usage.ts';
import { Note } from '#web/kit/error-note.tsx';
import { PlanHelp } from '#web/shell/plan-help.tsx';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';
import { planUsageQuery } from './usage-queries.ts';

type LimitedResource = Exclude<keyof PlanUsage, 'plan'>;

/** Warns at the top of a form that the plan's limit is reached, before a person fills it in. */
export function PlanLimitNote({ resource }: { readonly resource: LimitedResource }): ReactNode {
  const team = useTeam();
  const { data } = useQuery(planUsageQuery(team.id));
  if (!data) return null;
  const { used, limit } = data[resource];
  if (limit === null || used < limit) return null;
  return (
    <Note tone="warn">
      <p>
        {texts.full[resource]({ limit, plan: planTitles[data.plan] })} <PlanHelp />
      </p>
      <Link
        to="/teams/$teamId/usage"
        params={{ teamId: team.id }}
        className="mt-1 block font-medium underline"
      >
        {texts.full.seePlans}
      </Link>
    </Note>
  );
}
