import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { plans } from '#contract/plans.ts';
import type { UsageSummary } from '#contract/usage.ts';
import { Card } from '#web/kit/card.tsx';
import { amount } from '#web/kit/format.ts';
import { UsageMeter } from '#web/kit/meter.tsx';
import { DueTime } from '#web/kit/text.tsx';
import { useTeam } from '#web/shell/session.ts';

export function UsageCard({ usage }: { readonly usage: UsageSummary }): ReactNode {
  const team = useTeam();
  const isUnlimited = usage.monthly_message_limit >= plans.enterprise.monthlyMessages;
  return (
    <Card title="This month">
      <UsageMeter
        isAlarming
        label="Messages sent"
        used={usage.sent}
        limit={isUnlimited ? undefined : usage.monthly_message_limit}
      />
      <dl className="mt-4 flex justify-between gap-3">
        <dt>Messages received</dt>
        <dd className="font-semibold tabular-nums">{amount(usage.received)}</dd>
      </dl>
      <p className="mt-4 text-[0.8125rem] text-quiet">
        A new month begins <DueTime at={usage.resets_at} />.{' '}
        <Link
          to="/teams/$teamId/usage"
          params={{ teamId: team.id }}
          className="text-accent-ink underline underline-offset-2"
        >
          Show usage
        </Link>
      </p>
    </Card>
  );
}
