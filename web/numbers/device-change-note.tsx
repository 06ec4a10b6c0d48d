import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import type { DeviceChange } from '#contract/number-health.ts';
import { Note } from '#web/kit/error-note.tsx';
import { Time } from '#web/kit/text.tsx';
import { useTeam } from '#web/shell/session.ts';
import { useAdministratorNames } from '#web/team/administrators.ts';
import { numberQuery } from './number-queries.ts';

/** Warns that another iPhone may run a copy of the shortcuts, for 30 days. */
export function DeviceChangeNote({ number }: { readonly number: HomeNumber }): ReactNode {
  const team = useTeam();
  const administrators = useAdministratorNames();
  const change = useQuery(numberQuery(team.id, number.id)).data?.device_change;
  if (!change) return null;
  const { title, seen, advice } = deviceChangeTexts(change);
  return (
    <Note tone="warn">
      <h2 className="font-semibold">{title}</h2>
      <p className="mt-1">
        {seen} This was noticed <Time at={change.at} />.
      </p>
      <p className="mt-1">{advice}</p>
      {!team.can('numbers:write') && <p className="mt-1">Ask {administrators} to look into it.</p>}
    </Note>
  );
}

interface DeviceChangeTexts {
  readonly title: string;
  readonly seen: string;
  readonly advice: string;
}

/** Explains a device change. An iPhone with the same name and a later iOS version was probably updated. */
function deviceChangeTexts(change: DeviceChange): DeviceChangeTexts {
  const { device_name: name, previous_device_name: before, os, previous_os: osBefore } = change;
  const hasOtherSystem = os !== '' && osBefore !== '' && os !== osBefore;
  if (name === before && isLater(os, osBefore)) {
    return {
      title: 'iOS was probably updated',
      seen: `“${name}” had iOS ${osBefore}, and has iOS ${os} now.`,
      advice:
        'An update may change the automations. In Shortcuts, tap the three dots on both shortcuts: each automation is on. With iOS 26 and older, tap Automation: each says Run Immediately. If the iPhone was not updated, another one of its owner runs a copy of the shortcuts.',
    };
  }
  const system = hasOtherSystem ? `, with iOS ${os} instead of ${osBefore}` : '';
  return {
    title: 'Another iPhone may send for this number',
    seen:
      name === before
        ? `“${name}” had iOS ${osBefore}, and has iOS ${os} now.`
        : `The iPhone called itself “${before}” before, and calls itself “${name}” now${system}.`,
    advice:
      'iCloud copies shortcuts to all iPhones of an Apple Account, and messages leave from the one that runs them. On the iPhone that is not to send, switch the iCloud sync of Shortcuts off, stop Ownline Outbox, and delete it and its automations. If the iPhone was only renamed, dismiss this.',
  };
}

/** Compares versions such as 18.2 and 18.10.1 by their parts. */
function isLater(one: string, other: string): boolean {
  return one !== '' && other !== '' && one.localeCompare(other, 'en', { numeric: true }) > 0;
}
