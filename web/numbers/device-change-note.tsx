import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import type { DeviceChange } from '#contract/number-health.ts';
import { Note } from '#web/kit/error-note.tsx';
import { Time } from '#web/kit/time.tsx';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { useTeam } from '#web/shell/session.ts';
import { numberQuery } from './number-queries.ts';
import { texts } from './texts.ts';

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
        {seen} {texts.deviceChange.noticed({ at: <Time at={change.at} /> })}
      </p>
      <p className="mt-1">{advice}</p>
      {!team.can('numbers:write') && <p className="mt-1">{texts.deviceChange.ask({ administrators })}</p>}
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
  const otherSystem = texts.deviceChange.otherSystem({ name, before: osBefore, now: os });
  if (name === before && isLater(os, osBefore)) {
    return {
      title: texts.deviceChange.updated,
      seen: otherSystem,
      advice: texts.deviceChange.afterUpdate,
    };
  }
  const otherName = hasOtherSystem
    ? texts.deviceChange.otherBoth({ before, now: name, os, osBefore })
    : texts.deviceChange.otherName({ before, now: name });
  return {
    title: texts.deviceChange.other,
    seen: name === before ? otherSystem : otherName,
    advice: texts.deviceChange.stopOther,
  };
}

/** Compares versions such as 18.2 and 18.10.1 by their parts. */
function isLater(one: string, other: string): boolean {
  return one !== '' && other !== '' && one.localeCompare(other, 'en', { numeric: true }) > 0;
}
