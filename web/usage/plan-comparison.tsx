import type { ReactNode } from 'react';
import { planLines, planTitles } from '#contract/plan-texts.ts';
import { type PlanName, planNames } from '#contract/plans.ts';
import { basePath } from '#web/api/base-path.ts';
import { Badge } from '#web/kit/badge.tsx';
import { buttonStyle } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { useOwnerNames } from '#web/shell/administrators.ts';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';

/** The limits of all plans. Owners manage the plan on the page /billing, which works without script. */
export function PlanComparison({ plan }: { readonly plan: PlanName }): ReactNode {
  const { id: teamId, role } = useTeam();
  const owners = useOwnerNames();
  return (
    <Card title={texts.plans.title} description={texts.plans.description}>
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        {planNames.map((name) => (
          <PlanColumn key={name} name={name} isCurrent={name === plan} />
        ))}
      </div>
      <div className="mt-5 flex flex-wrap items-center justify-between gap-x-8 gap-y-3">
        <p className="text-quiet">
          {texts.plans.smaller} {role !== 'owner' && texts.plans.owners({ owners })}
        </p>
        {role === 'owner' && (
          <a href={`${basePath}/billing#${teamId}`} className={buttonStyle({ size: 'small' })}>
            {texts.plans.manage}
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
        {isCurrent && <Badge tone="accent">{texts.plans.yours}</Badge>}
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
