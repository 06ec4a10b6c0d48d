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
import { amount, counted, utcDay } from '#web/kit/format.ts';
import { Loaded } from '#web/kit/load-state.tsx';
import { UsageMeter } from '#web/kit/meter.tsx';
import { Page } from '#web/kit/page.tsx';
import { Hint, Time } from '#web/kit/text.tsx';
import { useTeam } from '#web/shell/session.ts';
import { MonthChart } from './month-chart.tsx';
import { monthAfter, monthInWords } from './months.ts';
import { PlanComparison } from './plan-comparison.tsx';
import { planUsageQuery, teamDetailsQuery, usageQuery } from './usage-queries.ts';

/** The usage of a month by day, and the limits of the plans. */
export function UsagePage(): ReactNode {
  const team = useTeam();
  const { month } = useSearch({ from: '/teams/$teamId/usage' });
  const current = useQuery(usageQuery(team.id, undefined));
  const shown = useQuery(usageQuery(team.id, month));
  const plan = useQuery(planUsageQuery(team.id));
  return (
    <Page
      title="Usage and limits"
      description="What your team has used this month, and what its plan allows."
    >
      <div className="flex flex-col gap-5">
        {current.data && <LimitReached usage={current.data} />}
        <Card
          title={shown.data ? monthInWords(shown.data.month) : 'Messages'}
          description={shown.data && sums(shown.data, shown.data.month === current.data?.month)}
          actions={current.data && <MonthSteps thisMonth={current.data.month} shownMonth={month} />}
        >
          <Loaded query={shown} skeleton={<div className="h-[14.25rem]" />}>
            {(usage) => <MonthChart key={usage.month} month={usage.month} days={usage.days} />}
          </Loaded>
        </Card>
        <div className="grid grid-cols-1 gap-5 md:grid-cols-2">
          <Card
            title="Limits"
            description={plan.data && `Your team has the plan ${planTitles[plan.data.plan]}.`}
          >
            <Loaded query={plan}>{(limits) => <Limits limits={limits} usage={current.data} />}</Loaded>
          </Card>
          {current.data ? <LimitRules usage={current.data} /> : <Card title="What happens at the limit" />}
        </div>
        {plan.data && <PlanComparison plan={plan.data.plan} />}
      </div>
    </Page>
  );
}

function sums({ sent, received }: Usage, isThisMonth: boolean): string {
  if (sent === 0 && received === 0)
    return isThisMonth ? 'No messages this month yet' : 'No messages in this month';
  return `${counted(sent, 'message')} sent, ${amount(received)} received`;
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
      <IconButton label="Month before" disabled={shownMonth <= first} onClick={() => go(-1)}>
        <ChevronLeft />
      </IconButton>
      <IconButton label="Next month" disabled={shownMonth >= thisMonth} onClick={() => go(1)}>
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
  const limit = usage?.monthly_message_limit ?? plans[plan].monthlyMessages;
  return (
    <div className="flex flex-col gap-4">
      <UsageMeter
        label="Messages sent this month"
        isAlarming
        used={usage?.sent ?? 0}
        limit={isUnlimited(limit) ? undefined : limit}
      />
      <UsageMeter
        label="Members and open invitations"
        used={members.used}
        limit={members.limit ?? undefined}
      />
      <UsageMeter label="Numbers of iPhones" used={numbers.used} limit={numbers.limit ?? undefined} />
      <UsageMeter label="Webhooks" used={webhooks.used} limit={webhooks.limit ?? undefined} />
      {limit !== plans[plan].monthlyMessages && (
        <Hint>
          The operator set the messages of your team: the plan itself has{' '}
          {isUnlimited(plans[plan].monthlyMessages) ? 'no limit' : amount(plans[plan].monthlyMessages)}.
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
      <b className="font-semibold">The month’s messages are used up.</b> Sends are refused until{' '}
      {utcDay(resets_at)}, or until the operator of this server raises the limit.
    </Note>
  );
}

/** Explains the monthly limit: refused sends, the reset, and the notices that were mailed. */
function LimitRules({ usage }: { readonly usage: Usage }): ReactNode {
  const { monthly_message_limit: limit, resets_at, notices } = usage;
  if (isUnlimited(limit)) {
    return (
      <Card title="What happens at the limit">
        <p className="text-quiet">This plan has no limit of messages: no send is refused for it.</p>
      </Card>
    );
  }
  return (
    <Card title="What happens at the limit">
      <ul className="flex list-disc flex-col gap-2 pl-4 text-quiet marker:text-faint">
        <li>
          After {amount(limit)} sent messages in a month, further sends are refused. Messages that were
          accepted before are still sent.
        </li>
        <li>
          Messages that you receive do not count and always arrive. A simulated iPhone counts neither as a
          number nor with its messages.
        </li>
        <li>
          Counting begins anew on <b className="font-medium text-ink">{utcDay(resets_at)}</b>, at 0:00 UTC.
        </li>
        <li>Owners and admins are told at 80 % and at 100 %.</li>
        {notices.map(({ percent, at }) => (
          <li key={percent} className="text-ink">
            Owners and admins were told of {percent} % <Time at={at} />.
          </li>
        ))}
      </ul>
    </Card>
  );
}
