import { useMutation } from '@tanstack/react-query';
import { Ban } from 'lucide-react';
import type { ReactNode } from 'react';
import type { OptOut } from '#contract/opt-out.ts';
import { queryClient } from '#web/api/query-client.ts';
import { Button } from '#web/kit/button.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { Time } from '#web/kit/text.tsx';
import { useTeam } from '#web/shell/session.ts';
import { optIn } from './conversation-queries.ts';

/** Says that the contact opted out, how, and that sends are refused. */
export function OptOutBanner({
  optOut,
  contact,
}: {
  readonly optOut: OptOut;
  readonly contact: string;
}): ReactNode {
  const team = useTeam();
  const optingIn = useMutation({
    mutationFn: () => optIn(team.id, contact),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [team.id, 'message'] }),
  });
  return (
    <Note tone="bad" icon={<Ban />} className="items-center rounded-none border-b border-line px-5">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p>
          {optOut.message_id === null
            ? 'This contact was opted out by request'
            : 'This contact wrote that it wants no more messages'}{' '}
          <Time at={optOut.opted_out_at} />. Sends to it are refused.
          {optingIn.error && <span role="alert"> {optingIn.error.message}</span>}
        </p>
        {team.can('messages:send') && (
          <Button size="small" isBusy={optingIn.isPending} onClick={() => optingIn.mutate()}>
            Opt in again
          </Button>
        )}
      </div>
    </Note>
  );
}
