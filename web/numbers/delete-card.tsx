import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { HomeNumber } from '#contract/home.ts';
import { Button } from '#web/kit/button.tsx';
import { Card } from '#web/kit/card.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import { notify } from '#web/kit/toast.tsx';
import { useTeam } from '#web/shell/session.ts';
import { deleteNumber, rereadNumbers } from './number-queries.ts';
import { texts } from './texts.ts';
import { waitingText } from './waiting-text.ts';

/** Deletes the number after a confirmation that lists the effects. */
export function DeleteCard({ number }: { readonly number: HomeNumber }): ReactNode {
  const team = useTeam();
  const navigate = useNavigate();
  const [isAsking, setIsAsking] = useState(false);
  const name = formatPhoneNumber(number.phone_number);
  const waiting = waitingText(number);
  return (
    <Card>
      <div className="flex flex-wrap items-center justify-between gap-4">
        <div className="min-w-0 flex-1 basis-72">
          <h2 className="text-[0.9375rem] font-semibold">{texts.delete.title}</h2>
          <p className="mt-0.5 text-quiet">{texts.delete.effect}</p>
        </div>
        <Button look="dangerQuiet" onClick={() => setIsAsking(true)}>
          {texts.delete.action}
        </Button>
      </div>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={texts.delete.question({ number: name })}
        action={texts.delete.action}
        onConfirm={async () => {
          await deleteNumber(team.id, number.id);
          await navigate({ to: '/teams/$teamId/numbers', params: { teamId: team.id }, replace: true });
          await rereadNumbers(team.id);
          notify(texts.delete.deleted({ number: name }));
        }}
      >
        <p>
          {waiting === undefined ? texts.delete.noneWaits : texts.delete.willFail({ waiting })}{' '}
          {number.simulated ? texts.delete.simulationEnds : texts.delete.iPhoneStops}
        </p>
        <p>{texts.delete.whatStays}</p>
      </Confirm>
    </Card>
  );
}
