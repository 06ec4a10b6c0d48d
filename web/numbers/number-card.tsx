import { Link } from '@tanstack/react-router';
import { Smartphone } from 'lucide-react';
import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import { StateBadge } from '#web/home/state-badge.tsx';
import { Badge } from '#web/kit/badge.tsx';
import { buttonStyle } from '#web/kit/button.tsx';
import { surface } from '#web/kit/card.tsx';
import { amount } from '#web/kit/format.ts';
import { rowLink } from '#web/kit/table.tsx';
import { Handle } from '#web/kit/text.tsx';
import { Time } from '#web/kit/time.tsx';
import { useTeam } from '#web/shell/session.ts';
import { stateSentence } from './number-texts.ts';
import { PauseSwitch } from './pause-switch.tsx';
import { isReceivingUntested } from './receiving-untested.ts';
import { texts } from './texts.ts';
import { waitingText } from './waiting-text.ts';

/** A number in the list with its state and its pause switch. The whole card links to the number's page. */
export function NumberCard({ number }: { readonly number: HomeNumber }): ReactNode {
  const team = useTeam();
  const waiting = waitingText(number);
  return (
    <li className={`relative flex flex-col transition-colors hover:border-line-strong ${surface}`}>
      <div className="flex items-start gap-3 px-5 pt-4 max-sm:px-4">
        <span className="grid size-10 shrink-0 place-items-center rounded-xl bg-accent-tint text-accent-ink">
          <Smartphone aria-hidden="true" className="size-5" />
        </span>
        <div className="min-w-0 flex-1">
          <h2 className="truncate text-[0.9375rem]">
            <Link
              to="/teams/$teamId/numbers/$id"
              params={{ teamId: team.id, id: number.id }}
              className={`${rowLink} font-semibold after:rounded-xl`}
            >
              {number.label === '' ? <Handle value={number.phone_number} /> : <bdi>{number.label}</bdi>}
            </Link>
          </h2>
          <p className="truncate text-quiet">
            {number.label === '' ? texts.noLabel : <Handle value={number.phone_number} />}
          </p>
        </div>
        {team.can('numbers:write') && number.verified && (
          <span className="relative z-10">
            <PauseSwitch number={number} isLabelled />
          </span>
        )}
      </div>
      <div className="flex-1 px-5 pt-3 pb-4 max-sm:px-4">
        <p className="flex flex-wrap gap-1.5">
          <StateBadge state={number.state} />
          {number.simulated && <Badge>{texts.simulated}</Badge>}
          {waiting !== undefined && <Badge tone="warn">{waiting}</Badge>}
        </p>
        <p className="mt-2 text-quiet">{stateSentence(number)}</p>
        <NextStep number={number} />
      </div>
      <dl className="grid grid-cols-3 divide-x divide-line border-t border-line">
        <Fact name={texts.facts.iPhone}>
          <bdi>{number.device_name || '–'}</bdi>
        </Fact>
        <Fact name={texts.facts.lastSeen}>
          {number.last_seen_at === null ? texts.facts.neverInList : <Time at={number.last_seen_at} />}
        </Fact>
        <Fact name={texts.facts.today}>{amount(number.messages_today)}</Fact>
      </dl>
    </li>
  );
}

/** A link to the next step: checks of an offline iPhone, a test of receiving, or the setup link of a pending number. */
function NextStep({ number }: { readonly number: HomeNumber }) {
  const team = useTeam();
  const { id, state, simulated } = number;
  if (simulated) return null;
  const params = { teamId: team.id, id };
  const className = `${buttonStyle({ size: 'small' })} relative z-10 mt-3`;
  if (state === 'offline') {
    return (
      <Link to="/teams/$teamId/numbers/$id" params={params} hash="checks" className={className}>
        {texts.next.check}
      </Link>
    );
  }
  if (isReceivingUntested(number)) {
    return (
      <Link to="/teams/$teamId/numbers/$id" params={params} hash="receiving" className={className}>
        {texts.next.testReceiving}
      </Link>
    );
  }
  if (state !== 'pending' || !team.can('numbers:write')) return null;
  return (
    <Link to="/teams/$teamId/numbers/$id" params={params} search={{ setup: true }} className={className}>
      {texts.next.showLink}
    </Link>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0 px-3 py-2.5 first:pl-5 max-sm:first:pl-4">
      <dt className="truncate text-xs text-quiet">{name}</dt>
      <dd className="truncate font-medium tabular-nums">{children}</dd>
    </div>
  );
}
