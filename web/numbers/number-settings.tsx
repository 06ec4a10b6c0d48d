import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import { Card } from '#web/kit/card.tsx';
import { Loaded } from '#web/kit/load-state.tsx';
import { Skeleton } from '#web/kit/skeleton.tsx';
import { useTeam } from '#web/shell/session.ts';
import { CoverageCard } from './coverage-card.tsx';
import { LabelCard } from './label-card.tsx';
import { numberQuery } from './number-queries.ts';
import { PacingCard } from './pacing-card.tsx';
import { UnconfirmedCard } from './unconfirmed-card.tsx';

/** The settings of a number, read-only for people without permission. @param onSetup opens the setup link dialog */
export function NumberSettings({
  number,
  onSetup,
}: {
  readonly number: HomeNumber;
  readonly onSetup: (() => void) | undefined;
}): ReactNode {
  const team = useTeam();
  const query = useQuery(numberQuery(team.id, number.id));
  return (
    <Loaded
      query={query}
      skeleton={
        <Card isFlush>
          <Skeleton lines={6} />
        </Card>
      }
    >
      {(detail) => (
        <>
          {!number.simulated && number.verified && <CoverageCard number={number} onSetup={onSetup} />}
          <PacingCard number={detail} />
          <UnconfirmedCard number={detail} />
          {team.can('numbers:write') && <LabelCard number={detail} />}
        </>
      )}
    </Loaded>
  );
}
