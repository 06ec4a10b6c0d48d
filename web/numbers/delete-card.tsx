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
import { waitingText } from './waiting-text.ts';

/** Deletes the number after a confirmation that lists the effects. */
export function DeleteCard({ number }: { readonly number: HomeNumber }): ReactNode {
  const team = useTeam();
  const navigate = useNavigate();
  const [isAsking, setIsAsking] = useState(false);
  const name = formatPhoneNumber(number.phone_number);
  return (
    <Card>
      <div className="flex flex-wrap items-center justify-between gap-4">
        <div className="min-w-0 flex-1 basis-72">
          <h2 className="text-[0.9375rem] font-semibold">Delete this number</h2>
          <p className="mt-0.5 text-quiet">
            Messages that wait for its iPhone fail. Sent and received ones stay readable.
          </p>
        </div>
        <Button look="dangerQuiet" onClick={() => setIsAsking(true)}>
          Delete number
        </Button>
      </div>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Delete ${name}?`}
        action="Delete number"
        onConfirm={async () => {
          await deleteNumber(team.id, number.id);
          await navigate({ to: '/teams/$teamId/numbers', params: { teamId: team.id }, replace: true });
          await rereadNumbers(team.id);
          notify(`${name} is deleted`);
        }}
      >
        <p>
          {waitingText(number) ?? 'No message waits'}
          {number.waiting_messages > 0 ? ' for its iPhone and will fail.' : ' for its iPhone now.'}{' '}
          {number.simulated ? 'The simulated iPhone ends.' : 'The iPhone is stopped the next time it asks.'}
        </p>
        <p>
          Conversations and messages stay readable. The number can be connected again, and begins then with a
          new id and the settings of a new number.
        </p>
      </Confirm>
    </Card>
  );
}
