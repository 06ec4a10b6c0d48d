import { type ReactNode, useEffect, useState } from 'react';
import type { NumberDetail, UnconfirmedPolicy } from '#contract/number.ts';
import { Card } from '#web/kit/card.tsx';
import { Choices } from '#web/kit/choices.tsx';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { useUpdateNumber } from './use-update-number.ts';

const policies: readonly { value: UnconfirmedPolicy; label: string; hint: string }[] = [
  {
    value: 'fail',
    label: 'Mark it as failed',
    hint: 'Nothing arrives twice. The message may have arrived all the same: look at the iPhone before you send it again.',
  },
  {
    value: 'retry_once',
    label: 'Send it once more',
    hint: 'Fewer messages are lost. One that had been sent arrives twice.',
  },
];

/** The policy for messages that the iPhone took and never confirmed. */
export function UnconfirmedCard({ number }: { readonly number: NumberDetail }): ReactNode {
  const team = useTeam();
  const update = useUpdateNumber(number.id);
  const [policy, setPolicy] = useState(number.on_unconfirmed);
  useEffect(() => setPolicy(number.on_unconfirmed), [number.on_unconfirmed]);
  const choose = (chosen: UnconfirmedPolicy) => {
    setPolicy(chosen);
    update.mutate(
      { on_unconfirmed: chosen },
      { onSuccess: () => notify('The rule is saved'), onError: () => setPolicy(number.on_unconfirmed) },
    );
  };
  const current = policies.find(({ value }) => value === policy);
  return (
    <Card
      title="When the iPhone does not confirm a message"
      description="It may lose power or its network between taking a message and saying that it was sent."
    >
      {team.can('numbers:write') ? (
        <Choices
          legend="When the iPhone does not confirm a message"
          options={policies}
          chosen={policy}
          onChoose={choose}
        />
      ) : (
        <>
          <p className="font-medium">{current?.label}</p>
          <p className="text-quiet">{current?.hint}</p>
        </>
      )}
      {update.error && <ErrorNote error={update.error} className="mt-3" />}
    </Card>
  );
}
