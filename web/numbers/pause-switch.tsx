import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { HomeNumber } from '#contract/home.ts';
import type { NumberStatus } from '#contract/number.ts';
import { Switch } from '#web/kit/switch.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { rereadNumbers, updateNumber } from './number-queries.ts';

/** Pauses and resumes a number. It shows the new choice while the request runs. */
export function PauseSwitch({
  number,
  isLabelled = false,
}: {
  readonly number: HomeNumber;
  /** Adds a visible label, where no heading has the same text. */
  readonly isLabelled?: boolean;
}): ReactNode {
  const team = useTeam();
  const name = formatPhoneNumber(number.phone_number);
  const change = useMutation({
    mutationFn: (status: NumberStatus) => updateNumber(team.id, number.id, { status }),
    onSuccess: async (_, status) => {
      await rereadNumbers(team.id);
      if (status === 'paused')
        notify(`${name} is paused`, 'Waiting messages go out once you resume it.', undefined, name);
      else notify(`${name} sends again`, undefined, undefined, name);
    },
    onError: (error) => notify('That did not work', error.message),
  });
  const status = change.isPending ? change.variables : number.status;
  return (
    <span className="-my-2.5 flex min-h-11 items-center gap-2">
      {isLabelled && (
        <span aria-hidden="true" className="text-[0.8125rem] text-quiet">
          Sending
        </span>
      )}
      <span className="relative [&_button]:after:absolute [&_button]:after:-inset-2.5">
        <Switch
          label={`Send from ${name}`}
          isOn={status === 'active'}
          isDisabled={change.isPending}
          onChange={(isOn) => change.mutate(isOn ? 'active' : 'paused')}
        />
      </span>
    </span>
  );
}
