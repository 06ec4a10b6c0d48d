import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Home } from '#contract/home.ts';
import { plans } from '#contract/plans.ts';
import type { UsageSummary } from '#contract/usage.ts';
import { Card } from '#web/kit/card.tsx';
import { amount } from '#web/kit/format.ts';
import { Loaded } from '#web/kit/load-state.tsx';
import { UsageMeter } from '#web/kit/meter.tsx';
import { Page } from '#web/kit/page.tsx';
import { DueTime } from '#web/kit/time.tsx';
import { useTeam } from '#web/shell/session.ts';
import { FirstRunCard } from './first-run-card.tsx';
import { homeQuery } from './home-queries.ts';
import { KeyChangesCard } from './key-changes-card.tsx';
import { LatestCard } from './latest-card.tsx';
import { NumbersCard } from './numbers-card.tsx';
import { StandingCard } from './standing-card.tsx';
import { texts } from './texts.ts';

/** The page Home. It shows whether everything works, and which matters need a person. */
export function HomePage(): ReactNode {
  const team = useTeam();
  const home = useQuery(homeQuery(team.id));
  return (
    <Page title={texts.title} description={team.name}>
      <Loaded query={home}>
        {(data) => (
          <div className="flex flex-col gap-5">
            {isBeginning(data) ? <FirstRunCard home={data} /> : <StandingCard home={data} />}
            {data.key_changes.length > 0 && <KeyChangesCard changes={data.key_changes} />}
            {data.numbers.length > 0 && (
              <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1.6fr)_minmax(0,1fr)]">
                <LatestCard />
                <div className="flex flex-col gap-5">
                  <NumbersCard home={data} />
                  <UsageCard usage={data.usage} />
                </div>
              </div>
            )}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

/** Whether the first steps are shown: until a phone has sent the first message. */
const isBeginning = ({ first_run }: Home) => !first_run.has_delivered;

function UsageCard({ usage }: { readonly usage: UsageSummary }): ReactNode {
  const team = useTeam();
  const isUnlimited = usage.monthly_message_limit >= plans.enterprise.monthlyMessages;
  return (
    <Card title={texts.usage.title}>
      <UsageMeter
        isAlarming
        label={texts.usage.sent}
        used={usage.sent}
        limit={isUnlimited ? undefined : usage.monthly_message_limit}
      />
      <dl className="mt-4 flex justify-between gap-3">
        <dt>{texts.usage.received}</dt>
        <dd className="font-semibold tabular-nums">{amount(usage.received)}</dd>
      </dl>
      <p className="mt-4 text-[0.8125rem] text-quiet">
        {texts.usage.begins({ at: <DueTime at={usage.resets_at} /> })}{' '}
        <Link
          to="/teams/$teamId/usage"
          params={{ teamId: team.id }}
          className="text-accent-ink underline underline-offset-2"
        >
          {texts.usage.show}
        </Link>
      </p>
    </Card>
  );
}
