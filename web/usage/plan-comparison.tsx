import type { ReactNode } from 'react';
import { planLines, planTitles } from '#contract/plan-texts.ts';
import { type PlanName, planNames } from '#contract/plans.ts';
import { basePath } from '#web/api/base-path.ts';
import { Badge } from '#web/kit/badge.tsx';
import { buttonStyle } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { useTeam } from '#web/shell/session.ts';
import { useOwnerNames } from '#web/team/administrators.ts';

/** The limits of all plans. Owners manage the plan on the page /billing, which works without script. */
export function PlanComparison({ plan }: { readonly plan: PlanName }): ReactNode {
  const { id: teamId, role } = useTeam();
  const owners = useOwnerNames();
  return (
    <Card
      title="Limits of each plan"
      description="A plan is a set of limits that the operator of this server gives a team. Ownline sells no plans."
    >
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        {planNames.map((name) => (
          <PlanColumn key={name} name={name} isCurrent={name === plan} />
        ))}
      </div>
      <div className="mt-5 flex flex-wrap items-center justify-between gap-x-8 gap-y-3">
        <p className="text-quiet">
          On a smaller plan everything that the team has goes on working; only more is refused.
          {role !== 'owner' && ` Owners manage the plan of the team: ask ${owners}.`}
        </p>
        {role === 'owner' && (
          <a href={`${basePath}/billing#${teamId}`} className={buttonStyle({ size: 'small' })}>
            Manage the plan
          </a>
        )}
      </div>
    </Card>
  );
}

function PlanColumn({
  name,
  isCurrent,
}: {
  readonly name: PlanName;
  readonly isCurrent: boolean;
}): ReactNode {
  return (
    <section
      aria-label={planTitles[name]}
      className={classNames(
        'rounded-lg border px-4 py-3',
        isCurrent ? 'border-accent bg-accent-tint/40' : 'border-line',
      )}
    >
      <h3 className="flex min-h-6 items-center justify-between gap-2 font-semibold">
        {planTitles[name]}
        {isCurrent && <Badge tone="accent">Your plan</Badge>}
      </h3>
      <dl className="mt-2 text-[0.8125rem]">
        {planLines.map(([text, textOf]) => (
          <div key={text} className="flex justify-between gap-3 border-t border-line py-1.5">
            <dt className="text-quiet">{text}</dt>
            <dd className="font-medium whitespace-nowrap tabular-nums">{textOf(name)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
