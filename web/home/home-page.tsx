import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Home } from '#contract/home.ts';
import { Loaded } from '#web/kit/load-state.tsx';
import { Page } from '#web/kit/page.tsx';
import { useTeam } from '#web/shell/session.ts';
import { FirstRunCard } from './first-run-card.tsx';
import { homeQuery } from './home-queries.ts';
import { KeyChangesCard } from './key-changes-card.tsx';
import { LatestCard } from './latest-card.tsx';
import { NumbersCard } from './numbers-card.tsx';
import { StandingCard } from './standing-card.tsx';
import { UsageCard } from './usage-card.tsx';

/** The page Home. It shows whether everything works, and which matters need a person. */
export function HomePage(): ReactNode {
  const team = useTeam();
  const home = useQuery(homeQuery(team.id));
  return (
    <Page title="Home" description={team.name}>
      <Loaded query={home}>
        {(data) => (
          <div className="flex flex-col gap-5">
            {isBeginning(data) ? <FirstRunCard home={data} /> : <StandingCard home={data} />}
            {data.key_changes.length > 0 && <KeyChangesCard changes={data.key_changes} />}
            {data.numbers.length > 0 && (
              <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[1.6fr_1fr]">
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

/** Whether the first steps are shown, until the first message was sent. */
const isBeginning = ({ first_run }: Home) => !first_run.has_delivered;
