import { Ban } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { OptOut } from '#contract/opt-out.ts';
import { Button } from '#web/kit/button.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { Handle, Time } from '#web/kit/text.tsx';
import { useTeam } from '#web/shell/session.ts';
import { type ConversationKey, optIn, rereadConversations } from './conversation-queries.ts';

/** States that the contact opted out, by which means, and that sends are refused. */
export function OptOutBanner({
  optOut,
  open,
}: {
  readonly optOut: OptOut;
  readonly open: ConversationKey;
}): ReactNode {
  const team = useTeam();
  const [isOptingIn, setIsOptingIn] = useState(false);
  const optInAgain = async () => {
    await optIn(team.id, open.contact);
    await rereadConversations(team.id, open);
  };
  return (
    <Note tone="bad" icon={<Ban />} className="items-center rounded-none border-b border-line px-5">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p>
          {optOut.message_id === null
            ? 'This contact was opted out by request'
            : 'This contact asked for no more messages'}{' '}
          (<Time at={optOut.opted_out_at} />
          ). Nothing is sent to this contact.
          {optOut.ignored_start_at !== null && (
            <>
              {' '}
              START came after that (<Time at={optOut.ignored_start_at} />
              ). It may be a late repeat of an earlier START, so it changed nothing. If you know that the
              contact wants messages, allow them again.
            </>
          )}
        </p>
        {team.can('messages:send') && (
          <Button size="small" onClick={() => setIsOptingIn(true)}>
            Allow messages again
          </Button>
        )}
      </div>
      <Confirm
        isOpen={isOptingIn}
        onClose={() => setIsOptingIn(false)}
        title="Allow messages to this contact again?"
        action="Allow messages"
        isDangerous={false}
        onConfirm={optInAgain}
      >
        <p>
          Do so only if <Handle value={open.contact} /> has asked for messages again. Every number of the team
          can write to it then, and the audit log says that you allowed it.
        </p>
      </Confirm>
    </Note>
  );
}
