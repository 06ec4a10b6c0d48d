import type { ReactNode } from 'react';
import { planLines, planTitles } from '#contract/plan-texts.ts';
import { type PlanName, planNames } from '#contract/plans.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Card } from '#web/kit/card.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { CopyRow } from '#web/kit/copy.tsx';

export function PlanComparison({
  plan,
  teamId,
}: {
  readonly plan: PlanName;
  readonly teamId: string;
}): ReactNode {
  return (
    <Card
      title="Plans"
      description="Nothing is sold here. The operator of this server gives each team its plan: it can’t be changed on this page."
    >
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        {planNames.map((name) => (
          <PlanColumn key={name} name={name} isCurrent={name === plan} />
        ))}
      </div>
      <div className="mt-5 grid grid-cols-1 gap-x-8 gap-y-3 md:grid-cols-2">
        <p className="text-quiet">
          For another plan, ask the operator, and give them the id of the team. They can also allow another
          number of messages than the plan’s. On a smaller plan everything that the team has goes on working;
          only more is refused.
        </p>
        <div>
          <CopyRow value={teamId} what="the id of the team" />
        </div>
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
