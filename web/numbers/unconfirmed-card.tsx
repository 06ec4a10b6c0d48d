import { type ReactNode, useEffect, useState } from 'react';
import type { NumberDetail, UnconfirmedPolicy } from '#contract/number.ts';
import { Card } from '#web/kit/card.tsx';
import { Choices } from '#web/kit/choices.tsx';
import { ErrorNote } from '#web/kit/error-note.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';
import { useUpdateNumber } from './use-update-number.ts';

const policies: readonly { value: UnconfirmedPolicy; label: string; hint: string }[] = [
  { value: 'fail', ...texts.unconfirmed.policies.fail },
  { value: 'retry_once', ...texts.unconfirmed.policies.retry_once },
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
      { onSuccess: () => notify(texts.unconfirmed.saved), onError: () => setPolicy(number.on_unconfirmed) },
    );
  };
  const current = texts.unconfirmed.policies[policy];
  return (
    <Card title={texts.unconfirmed.title} description={texts.unconfirmed.description}>
      {team.can('numbers:write') ? (
        <Choices legend={texts.unconfirmed.title} options={policies} chosen={policy} onChoose={choose} />
      ) : (
        <>
          <p className="font-medium">{current.label}</p>
          <p className="text-quiet">{current.hint}</p>
        </>
      )}
      {update.error && <ErrorNote error={update.error} className="mt-3" />}
    </Card>
  );
}
