import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { HomeNumber } from '#contract/home.ts';
import { Button } from '#web/kit/button.tsx';
import { ErrorNote, Note } from '#web/kit/error-note.tsx';
import { Time } from '#web/kit/text.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { useAdministratorNames } from '#web/team/administrators.ts';
import { deviceChangeTexts } from './device-change-texts.ts';
import { dismissDeviceChange, numberQuery, rereadNumbers } from './number-queries.ts';

/** Warns that another iPhone may run a copy of the shortcuts, until a person dismisses it. */
export function DeviceChangeNote({ number }: { readonly number: HomeNumber }): ReactNode {
  const team = useTeam();
  const administrators = useAdministratorNames();
  const change = useQuery(numberQuery(team.id, number.id)).data?.device_change;
  const dismissing = useMutation({
    mutationFn: async () => {
      await dismissDeviceChange(team.id, number.id);
      await rereadNumbers(team.id);
    },
    onSuccess: () => notify('The warning is dismissed'),
  });
  if (!change) return null;
  const { title, seen, advice } = deviceChangeTexts(change);
  return (
    <Note tone="warn">
      <h2 className="font-semibold">{title}</h2>
      <p className="mt-1">
        {seen} This was noticed <Time at={change.at} />.
      </p>
      <p className="mt-1">{advice}</p>
      {team.can('numbers:write') ? (
        <Button
          size="small"
          className="mt-3"
          isBusy={dismissing.isPending}
          onClick={() => dismissing.mutate()}
        >
          Dismiss
        </Button>
      ) : (
        <p className="mt-1">Ask {administrators} to look into it.</p>
      )}
      {dismissing.error && <ErrorNote error={dismissing.error} className="mt-3" />}
    </Note>
  );
}
