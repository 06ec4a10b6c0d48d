import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { planTitles } from '#contract/plan-texts.ts';
import type { PlanUsage } from '#contract/usage.ts';
import { Note } from '#web/kit/error-note.tsx';
import { counted } from '#web/kit/format.ts';
import { useTeam } from '#web/shell/session.ts';
import { PlanHelp } from './plan-help.tsx';
import { planUsageQuery } from './usage-queries.ts';

type LimitedResource = Exclude<keyof PlanUsage, 'plan'>;

const nouns: Readonly<Record<LimitedResource, string>> = {
  members: 'member',
  numbers: 'number',
  webhooks: 'webhook',
};

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
        The plan {planTitles[data.plan]} allows {counted(limit, nouns[resource])}
        {resource === 'members' && ', open invitations included'}, and your team uses all of it. <PlanHelp />
      </p>
      <Link
        to="/teams/$teamId/usage"
        params={{ teamId: team.id }}
        className="mt-1 block font-medium underline"
      >
        See usage and plans
      </Link>
    </Note>
  );
}
