import { QrCode } from 'lucide-react';
import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import { StateBadge } from '#web/home/state-badge.tsx';
import { Badge } from '#web/kit/badge.tsx';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { amount } from '#web/kit/format.ts';
import { Time } from '#web/kit/time.tsx';
import { useTeam } from '#web/shell/session.ts';
import { adviceText, stateSentence } from './number-texts.ts';
import { PauseSwitch } from './pause-switch.tsx';
import { texts } from './texts.ts';
import { waitingAmount } from './waiting-text.ts';

/** The state of the number, its cause, and the pause switch. @param onSetup opens the setup link dialog */
export function StateCard({
  number,
  onSetup,
}: {
  readonly number: HomeNumber;
  readonly onSetup: (() => void) | undefined;
}): ReactNode {
  const team = useTeam();
  const advice = adviceText(number);
  const isPaused = number.status === 'paused';
  return (
    <Card className="overflow-hidden" isFlush>
      <div className="flex flex-wrap items-start justify-between gap-4 px-5 py-4 max-sm:px-4">
        <div className="min-w-0 flex-1 basis-72">
          <p className="flex flex-wrap gap-1.5">
            <StateBadge state={number.state} />
            {number.simulated && <Badge>{texts.simulated}</Badge>}
          </p>
          <p className="mt-2 text-[0.9375rem] font-medium">{stateSentence(number)}</p>
          {advice !== undefined && <p className="mt-1 max-w-[72ch] text-quiet">{advice}</p>}
        </div>
        {onSetup && (
          <Button look={number.verified ? 'second' : 'primary'} onClick={onSetup}>
            <QrCode /> {number.verified ? texts.state.setUpAgain : texts.state.showLink}
          </Button>
        )}
      </div>
      {number.verified && (
        <div className="flex items-start justify-between gap-4 border-t border-line px-5 py-4 max-sm:px-4">
          <div>
            <h2 className="font-medium">{isPaused ? texts.state.off : texts.state.on}</h2>
            <p className="max-w-[64ch] text-quiet">
              {isPaused ? texts.state.whileOff : texts.state.ifPaused}
            </p>
          </div>
          {team.can('numbers:write') && <PauseSwitch number={number} />}
        </div>
      )}
      {number.simulated && (
        <div className="px-5 pb-4 max-sm:px-4">
          <Note tone="accent" icon={null}>
            {texts.state.simulation}
          </Note>
        </div>
      )}
      <dl className="grid grid-cols-2 gap-px border-t border-line bg-line sm:grid-cols-3 lg:grid-cols-5">
        <Fact name={texts.facts.iPhone}>
          <bdi>{number.device_name || texts.facts.noIPhone}</bdi>
        </Fact>
        <Fact name={texts.facts.lastSeen}>
          {number.last_seen_at === null ? texts.facts.never : <Time at={number.last_seen_at} />}
        </Fact>
        <Fact name={texts.facts.today}>{amount(number.messages_today)}</Fact>
        <Fact name={texts.facts.waiting}>
          {waitingAmount(number)}
          {number.oldest_waiting_at !== null && (
            <span className="block text-xs font-normal text-quiet">
              {texts.facts.oldest({ at: <Time at={number.oldest_waiting_at} /> })}
            </span>
          )}
        </Fact>
        <Fact name={texts.facts.added}>
          <Time at={number.created_at} />
        </Fact>
      </dl>
    </Card>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0 bg-surface px-5 py-3 last:col-span-2 max-sm:px-4 lg:last:col-span-1">
      <dt className="text-xs text-quiet">{name}</dt>
      <dd className="mt-0.5 font-medium tabular-nums">{children}</dd>
    </div>
  );
}
