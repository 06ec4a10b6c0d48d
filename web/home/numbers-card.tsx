import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Home, HomeNumber } from '#contract/home.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Card, cardRow } from '#web/kit/card.tsx';
import { rowLink } from '#web/kit/table.tsx';
import { Handle } from '#web/kit/text.tsx';
import { Time } from '#web/kit/time.tsx';
import { numberName } from '#web/numbers/number-name.ts';
import { isReceivingUntested } from '#web/numbers/receiving-untested.ts';
import { useTeam } from '#web/shell/session.ts';
import { StateBadge } from './state-badge.tsx';
import { texts } from './texts.ts';

export function NumbersCard({ home }: { readonly home: Home }): ReactNode {
  return (
    <Card title={texts.numbers.title} isFlush>
      <ul>
        {home.numbers.map((number) => (
          <NumberRow key={number.id} number={number} />
        ))}
      </ul>
    </Card>
  );
}

function NumberRow({ number }: { readonly number: HomeNumber }): ReactNode {
  const team = useTeam();
  const { state } = number;
  return (
    <li className={`relative flex items-center justify-between gap-3 hover:bg-sunken/60 ${cardRow}`}>
      <div className="min-w-0">
        <Link to="/teams/$teamId/numbers/$id" params={{ teamId: team.id, id: number.id }} className={rowLink}>
          <bdi>{numberName(number)}</bdi>
        </Link>
        {number.label !== '' && (
          <p className="truncate text-[0.8125rem] text-quiet">
            <Handle value={number.phone_number} />
          </p>
        )}
        <p className="truncate text-[0.8125rem] text-quiet">
          {number.waiting_messages > 0
            ? texts.numbers.waiting({ count: number.waiting_messages })
            : isReceivingUntested(number)
              ? texts.numbers.untested
              : texts.numbers.today({ count: number.messages_today })}
          {state === 'offline' && number.last_seen_at !== null && (
            <> · {texts.numbers.lastSeen({ at: <Time at={number.last_seen_at} /> })}</>
          )}
        </p>
      </div>
      <span className="flex shrink-0 items-center gap-1.5">
        {number.simulated && <Badge>{texts.numbers.simulated}</Badge>}
        <StateBadge state={state} />
      </span>
    </li>
  );
}
