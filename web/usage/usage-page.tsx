import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { isUnlimited, planTitles } from '#contract/plan-texts.ts';
import { plans } from '#contract/plans.ts';
import type { PlanUsage, Usage } from '#contract/usage.ts';
import { IconButton } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { monthInWords, utcDay } from '#web/kit/format.ts';
import { Loaded } from '#web/kit/load-state.tsx';
import { UsageMeter } from '#web/kit/meter.tsx';
import { Page } from '#web/kit/page.tsx';
import { Hint } from '#web/kit/text.tsx';
import { Time } from '#web/kit/time.tsx';
import { useTeam } from '#web/shell/session.ts';
import { MonthChart } from './month-chart.tsx';
import { monthAfter } from './months.ts';
import { PlanComparison } from './plan-comparison.tsx';
import { texts } from './texts.ts';
import { planUsageQuery, teamDetailsQuery, usageQuery } from './usage-queries.ts';

/** The usage of a month by day, and the limits of the plans. */
export function UsagePage(): ReactNode {
  const team = useTeam();
  const { month } = useSearch({ from: '/teams/$teamId/usage' });
  const current = useQuery(usageQuery(team.id, undefined));
  const shown = useQuery(usageQuery(team.id, month));
  const plan = useQuery(planUsageQuery(team.id));
  return (
    <Page title={texts.title} description={texts.description}>
      <div className="flex flex-col gap-5">
        {current.data && <LimitReached usage={current.data} />}
        <Card
          title={shown.data ? monthInWords(shown.data.month) : texts.messages}
          description={shown.data && sums(shown.data, shown.data.month === current.data?.month)}
          actions={current.data && <MonthSteps thisMonth={current.data.month} shownMonth={month} />}
        >
          <Loaded query={shown} skeleton={<div className="h-[14.25rem]" />}>
            {(usage) => <MonthChart key={usage.month} month={usage.month} days={usage.days} />}
          </Loaded>
        </Card>
        <div className="grid grid-cols-1 gap-5 md:grid-cols-2">
          <Card
            title={texts.limits.title}
            description={plan.data && texts.limits.plan({ plan: planTitles[plan.data.plan] })}
          >
            <Loaded query={plan}>{(limits) => <Limits limits={limits} usage={current.data} />}</Loaded>
          </Card>
          {current.data ? <LimitRules usage={current.data} /> : <Card title={texts.rules.title} />}
        </div>
        {plan.data && <PlanComparison plan={plan.data.plan} />}
      </div>
    </Page>
  );
}

function sums({ sent, received }: Usage, isThisMonth: boolean): string {
  if (sent === 0 && received === 0) return isThisMonth ? texts.noneThisMonth : texts.noneInMonth;
  return texts.sums({ sent, received });
}

/** Links to the previous and the next month. The shown month is in the page's address. */
function MonthSteps({
  thisMonth,
  shownMonth = thisMonth,
}: {
  readonly thisMonth: string;
  readonly shownMonth?: string | undefined;
}): ReactNode {
  const team = useTeam();
  const navigate = useNavigate();
  const details = useQuery(teamDetailsQuery(team.id));
  const first = details.data?.created_at.slice(0, 7) ?? thisMonth;
  const go = (months: number) => {
    const month = monthAfter(shownMonth, months);
    void navigate({
      to: '/teams/$teamId/usage',
      params: { teamId: team.id },
      search: month === thisMonth ? {} : { month },
      replace: true,
    });
  };
  return (
    <div className="-my-1 flex">
      <IconButton label={texts.before} disabled={shownMonth <= first} onClick={() => go(-1)}>
        <ChevronLeft />
      </IconButton>
      <IconButton label={texts.next} disabled={shownMonth >= thisMonth} onClick={() => go(1)}>
        <ChevronRight />
      </IconButton>
    </div>
  );
}

function Limits({
  limits: { plan, members, numbers, webhooks },
  usage,
}: {
  readonly limits: PlanUsage;
  readonly usage: Usage | undefined;
}): ReactNode {
  const planned = plans[plan].monthlyMessages;
  const limit = usage?.monthly_message_limit ?? planned;
  return (
    <div className="flex flex-col gap-4">
      <UsageMeter
        label={texts.limits.messages}
        isAlarming
        used={usage?.sent ?? 0}
        limit={isUnlimited(limit) ? undefined : limit}
      />
      <UsageMeter label={texts.limits.members} used={members.used} limit={members.limit ?? undefined} />
      <UsageMeter label={texts.limits.numbers} used={numbers.used} limit={numbers.limit ?? undefined} />
      <UsageMeter label={texts.limits.webhooks} used={webhooks.used} limit={webhooks.limit ?? undefined} />
      {limit !== planned && (
        <Hint>
          {texts.limits.setByOperator({
            limit: isUnlimited(planned) ? texts.limits.noLimit : planned,
          })}
        </Hint>
      )}
    </div>
  );
}

/** A banner while sends are refused because of the monthly limit. */
function LimitReached({ usage }: { readonly usage: Usage }): ReactNode {
  const { sent, monthly_message_limit: limit, resets_at } = usage;
  if (sent < limit || isUnlimited(limit)) return null;
  return (
    <Note tone="bad">
      <b className="font-semibold">{texts.reached}</b> {texts.refusedUntil({ day: utcDay(resets_at) })}
    </Note>
  );
}

/** Explains the monthly limit: refused sends, the reset, and the notices that were mailed. */
function LimitRules({ usage }: { readonly usage: Usage }): ReactNode {
  const { monthly_message_limit: limit, resets_at, notices } = usage;
  if (isUnlimited(limit)) {
    return (
      <Card title={texts.rules.title}>
        <p className="text-quiet">{texts.rules.noLimit}</p>
      </Card>
    );
  }
  return (
    <Card title={texts.rules.title}>
      <ul className="flex list-disc flex-col gap-2 pl-4 text-quiet marker:text-faint">
        <li>{texts.rules.refused({ limit })}</li>
        <li>{texts.rules.received}</li>
        <li>{texts.rules.begins({ day: <b className="font-medium text-ink">{utcDay(resets_at)}</b> })}</li>
        <li>{texts.rules.notices}</li>
        {notices.map(({ percent, at }) => (
          <li key={percent} className="text-ink">
            {texts.rules.noticed({ percent, at: <Time at={at} /> })}
          </li>
        ))}
      </ul>
    </Card>
  );
}
