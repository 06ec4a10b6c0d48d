import { Link, type LinkProps, linkOptions } from '@tanstack/react-router';
import { ChevronRight, CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { healthCauseTexts } from '#contract/health-causes.ts';
import type { Home, HomeNumber } from '#contract/home.ts';
import { surface } from '#web/kit/card.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { numberName } from '#web/numbers/number-name.ts';
import { useOverview, useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';

const { standing } = texts;

/** The highest count that the API returns for Home (contract/home.ts). */
const homeCountMax = 1_000;

interface Matter {
  readonly text: string;
  readonly hint?: string;
  readonly link: LinkProps;
  readonly isUrgent: boolean;
}

/**
 * Shows either that everything is fine, or each thing that needs a person, with a link to its page. During a restore
 * hold, when the banner says that nothing is sent, the card does not say that everything is fine.
 */
export function StandingCard({ home }: { readonly home: Home }): ReactNode {
  const team = useTeam();
  const { is_held: isHeld } = useOverview();
  const matters = mattersOf(home, team.id);
  // A viewer may look at these matters but change none, so the heading avoids `you`.
  const headingOf = team.role === 'viewer' ? standing.needAttention : standing.needYou;
  if (matters.length === 0 && isHeld) return null;
  if (matters.length === 0) {
    return (
      <section className="flex items-center gap-3.5 rounded-xl bg-good-tint px-5 py-4 text-good-ink max-sm:px-4">
        <CircleCheck aria-hidden="true" className="size-6 shrink-0" />
        <div>
          <h2 className="text-[0.9375rem] font-semibold">{standing.fine}</h2>
          <p>
            {onlineText(home.numbers)}{' '}
            {home.waiting_messages === 0
              ? standing.noneWaits
              : upToMax(home.waiting_messages, standing.onTheWay, standing.manyOnTheWay)}
          </p>
        </div>
      </section>
    );
  }
  return (
    <section className={`overflow-hidden ${surface}`}>
      <h2
        className={classNames(
          'px-5 py-3 text-[0.9375rem] font-semibold max-sm:px-4',
          matters.some(({ isUrgent }) => isUrgent)
            ? 'bg-bad-tint text-bad-ink'
            : 'bg-warn-tint text-warn-ink',
        )}
      >
        {headingOf({ count: matters.length })}
      </h2>
      <ul>
        {matters.map(({ text, hint, link, isUrgent }) => (
          <li key={text} className="border-t border-line">
            <Link {...link} className="flex items-center gap-3 px-5 py-3 hover:bg-sunken max-sm:px-4">
              <TriangleAlert
                aria-hidden="true"
                className={classNames('size-4.5 shrink-0', isUrgent ? 'text-bad-ink' : 'text-warn-ink')}
              />
              <span className="min-w-0 flex-1">
                <span className="block font-medium">{text}</span>
                {hint !== undefined && <span className="block text-quiet">{hint}</span>}
              </span>
              <ChevronRight aria-hidden="true" className="size-4 shrink-0 text-quiet" />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Names the connected iPhones. With simulated ones alone it warns that no message reaches a person. */
function onlineText(numbers: Home['numbers']): string {
  const real = numbers.filter(({ simulated }) => !simulated);
  if (real.length === 0) return standing.onlySimulated;
  const countOf = (wanted: HomeNumber['state']) => real.filter(({ state }) => state === wanted).length;
  const others = (['late', 'paused'] as const).map((state) => {
    const count = countOf(state);
    return count === 0 ? '' : standing[state]({ count });
  });
  return standing.online({ count: real.length, online: countOf('online'), others: others.join('') });
}

type Counted = typeof standing.waiting;

const upToMax = (count: number, exactly: Counted, orMore: Counted) =>
  count >= homeCountMax ? orMore({ count: homeCountMax }) : exactly({ count });

function mattersOf(home: Home, teamId: string): readonly Matter[] {
  const params = { teamId };
  const numbers = home.numbers
    .filter(
      ({ state, waiting_messages: waiting }) =>
        state === 'pending' || state === 'offline' || (state === 'paused' && waiting > 0),
    )
    .map((number) => ({
      text: standing.states[number.state]({ name: numberName(number) }),
      hint: [
        number.likely_cause && healthCauseTexts[number.likely_cause].cause,
        number.waiting_messages > 0 &&
          upToMax(number.waiting_messages, standing.waiting, standing.manyWaiting),
      ]
        .filter(Boolean)
        .join(' '),
      link: linkOptions({ to: '/teams/$teamId/numbers/$id', params: { teamId, id: number.id } }),
      isUrgent: number.state === 'offline',
    }));
  const others: readonly (Matter | false)[] = [
    home.numbers.length === 0 && {
      text: standing.noIphone,
      hint: standing.noIphoneHint,
      link: linkOptions({ to: '/teams/$teamId/numbers', params }),
      isUrgent: true,
    },
    home.webhooks_disabled > 0 && {
      text: standing.webhooksOff({ count: home.webhooks_disabled }),
      hint: standing.webhooksOffHint,
      link: linkOptions({ to: '/teams/$teamId/webhooks', params }),
      isUrgent: true,
    },
    home.webhooks_failing > 0 && {
      text: standing.webhooksFail({ count: home.webhooks_failing }),
      hint: standing.webhooksFailHint,
      link: linkOptions({ to: '/teams/$teamId/webhooks', params }),
      isUrgent: false,
    },
    home.failed_last_day > 0 && {
      text: standing.failed({ count: home.failed_last_day }),
      link: linkOptions({ to: '/teams/$teamId/messages', params, search: { status: 'failed' } }),
      isUrgent: false,
    },
    home.retention_late_days > 0 && {
      text: standing.deletedLate({ count: home.retention_late_days }),
      hint: standing.deletedLateHint,
      link: linkOptions({ to: '/teams/$teamId/messages', params }),
      isUrgent: false,
    },
    home.usage.sent >= home.usage.monthly_message_limit && {
      text: standing.limitReached,
      hint: standing.limitReachedHint,
      link: linkOptions({ to: '/teams/$teamId/usage', params }),
      isUrgent: true,
    },
  ];
  return [...numbers, ...others.filter((matter) => matter !== false)];
}
