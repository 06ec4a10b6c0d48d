import { Link, type LinkProps, linkOptions } from '@tanstack/react-router';
import { ChevronRight, CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Home, HomeNumber } from '#contract/home.ts';
import { healthCauseTexts } from '#contract/number-health.ts';
import { surface } from '#web/kit/card.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { amount } from '#web/kit/format.ts';
import { numberName } from '#web/numbers/number-name.ts';
import { useOverview, useTeam } from '#web/shell/session.ts';

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
 * hold the banner above says that nothing is sent, so the card does not say that all is fine.
 */
export function StandingCard({ home }: { readonly home: Home }): ReactNode {
  const team = useTeam();
  const { restore_hold: isHeld } = useOverview();
  const matters = mattersOf(home, team.id);
  if (matters.length === 0 && isHeld) return null;
  if (matters.length === 0) {
    return (
      <section className="flex items-center gap-3.5 rounded-xl bg-good-tint px-5 py-4 text-good-ink max-sm:px-4">
        <CircleCheck aria-hidden="true" className="size-6 shrink-0" />
        <div>
          <h2 className="text-[0.9375rem] font-semibold">Everything is fine</h2>
          <p>
            {onlineText(home.numbers)}{' '}
            {home.waiting_messages === 0
              ? 'No message waits, and no webhook fails.'
              : `${counted(home.waiting_messages)} on the way, and no webhook fails.`}
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
        {headingOf(matters.length, team.role === 'viewer')}
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
  if (real.length === 0) return 'Only a simulated iPhone is connected: no message reaches a person.';
  const paused = real.filter(({ state }) => state === 'paused').length;
  const online = real.filter(({ state }) => state === 'online').length;
  const late = real.filter(({ state }) => state === 'late').length;
  const others = [...countedAs(late, 'late'), ...countedAs(paused, 'paused')].map((text) => `, and ${text}`);
  return `${online} of ${real.length} ${real.length === 1 ? 'iPhone is' : 'iPhones are'} online${others.join('')}.`;
}

const countedAs = (count: number, word: string): readonly string[] =>
  count === 0 ? [] : [`${count === 1 ? 'one is' : `${count} are`} ${word}`];

const stateWords: Readonly<Record<HomeNumber['state'], string>> = {
  online: 'online',
  late: 'late',
  offline: 'offline',
  paused: 'paused',
  pending: 'not connected yet',
};

/** A viewer may look at these matters but change none, so the heading avoids `you`. */
function headingOf(matters: number, isViewer: boolean): string {
  const object = isViewer ? 'attention' : 'you';
  return matters === 1 ? `One thing needs ${object}` : `${matters} things need ${object}`;
}

const counted = (messages: number) =>
  messages >= homeCountMax
    ? `${amount(homeCountMax)} messages or more are`
    : messages === 1
      ? 'One message is'
      : `${amount(messages)} messages are`;

function mattersOf(home: Home, teamId: string): readonly Matter[] {
  const params = { teamId };
  const numbers = home.numbers
    .filter(
      ({ state, waiting_messages: waiting }) =>
        state === 'pending' || state === 'offline' || (state === 'paused' && waiting > 0),
    )
    .map((number) => ({
      text: `${numberName(number)} is ${stateWords[number.state]}`,
      hint: [
        number.likely_cause && healthCauseTexts[number.likely_cause].cause,
        number.waiting_messages > 0 && `${counted(number.waiting_messages)} waiting.`,
      ]
        .filter(Boolean)
        .join(' '),
      link: linkOptions({ to: '/teams/$teamId/numbers/$id', params: { teamId, id: number.id } }),
      isUrgent: number.state === 'offline',
    }));
  const others: readonly (Matter | false)[] = [
    home.numbers.length === 0 && {
      text: 'No iPhone is connected',
      hint: 'Messages go out and come in once one is.',
      link: linkOptions({ to: '/teams/$teamId/numbers', params }),
      isUrgent: true,
    },
    home.webhooks_disabled > 0 && {
      text: `${home.webhooks_disabled === 1 ? 'A webhook was' : `${home.webhooks_disabled} webhooks were`} switched off after ten failures`,
      hint: 'Your systems get no events there until it is enabled again.',
      link: linkOptions({ to: '/teams/$teamId/webhooks', params }),
      isUrgent: true,
    },
    home.webhooks_failing > 0 && {
      text: home.webhooks_failing === 1 ? 'A webhook fails' : `${home.webhooks_failing} webhooks fail`,
      hint: 'The last attempt had no success. Ownline repeats it.',
      link: linkOptions({ to: '/teams/$teamId/webhooks', params }),
      isUrgent: false,
    },
    home.failed_last_day > 0 && {
      text: `${home.failed_last_day === 1 ? 'One message' : `${amount(home.failed_last_day)} messages`} failed in the last 24 hours`,
      link: linkOptions({ to: '/teams/$teamId/messages', params, search: { status: 'failed' } }),
      isUrgent: false,
    },
    home.retention_late_days > 0 && {
      text: `Old data is deleted ${home.retention_late_days === 1 ? 'a day' : `${amount(home.retention_late_days)} days`} late`,
      hint: 'It catches up after the time was made shorter. If it does not, whoever runs Ownline finds the cause with the command doctor.',
      link: linkOptions({ to: '/teams/$teamId/messages', params }),
      isUrgent: false,
    },
    home.usage.sent >= home.usage.monthly_message_limit && {
      text: 'The limit of this month is reached',
      hint: 'Sends are refused until the next month begins.',
      link: linkOptions({ to: '/teams/$teamId/usage', params }),
      isUrgent: true,
    },
  ];
  return [...numbers, ...others.filter((matter) => matter !== false)];
}
