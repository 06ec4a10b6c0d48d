import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { HomeNumber } from '#contract/home.ts';
import type { NumberStatus } from '#contract/number.ts';
import { Switch } from '#web/kit/switch.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { rereadNumbers, updateNumber } from './number-queries.ts';
import { texts } from './texts.ts';

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
        notify(texts.pause.paused({ number: name }), texts.pause.waitingLater, undefined, name);
      else notify(texts.pause.resumed({ number: name }), undefined, undefined, name);
    },
    onError: (error) => notify(texts.pause.failed, error.message),
  });
  const status = change.isPending ? change.variables : number.status;
  return (
    <span className="-my-2.5 flex min-h-11 items-center gap-2">
      {isLabelled && (
        <span aria-hidden="true" className="text-[0.8125rem] text-quiet">
          {texts.pause.label}
        </span>
      )}
      <span className="relative [&_button]:after:absolute [&_button]:after:-inset-2.5">
        <Switch
          label={texts.pause.sendFrom({ number: name })}
          isOn={status === 'active'}
          isDisabled={change.isPending}
          onChange={(isOn) => change.mutate(isOn ? 'active' : 'paused')}
        />
      </span>
    </span>
  );
}
