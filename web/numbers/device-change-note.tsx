import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import { Note } from '#web/kit/error-note.tsx';
import { Time } from '#web/kit/text.tsx';
import { useTeam } from '#web/shell/session.ts';
import { useAdministratorNames } from '#web/team/administrators.ts';
import { deviceChangeTexts } from './device-change-texts.ts';
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
