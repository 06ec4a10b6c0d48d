import { Ban } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { OptOut } from '#contract/opt-out.ts';
import { Button } from '#web/kit/button.tsx';
import { Confirm } from '#web/kit/confirm.tsx';
import { Note } from '#web/kit/error-note.tsx';
import { Handle } from '#web/kit/text.tsx';
import { Time } from '#web/kit/time.tsx';
import { useTeam } from '#web/shell/session.ts';
import { type ConversationKey, optIn, rereadConversations } from './conversation-queries.ts';
import { texts as conversationTexts } from './texts.ts';

const { optOut: texts } = conversationTexts;

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
  const sentence = optOut.message_id === null ? texts.byRequest : texts.byContact;
  const optInAgain = async () => {
    await optIn(team.id, open.contact);
    await rereadConversations(team.id, open);
  };
  return (
    <Note tone="bad" icon={<Ban />} className="items-center rounded-none border-b border-line px-5">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p>
          {sentence({ at: <Time at={optOut.opted_out_at} /> })}
          {optOut.ignored_start_at !== null && (
            <> {texts.ignoredStart({ at: <Time at={optOut.ignored_start_at} /> })}</>
          )}
        </p>
        {team.can('messages:send') && (
          <Button size="small" onClick={() => setIsOptingIn(true)}>
            {texts.allowAgain}
          </Button>
        )}
      </div>
      <Confirm
        isOpen={isOptingIn}
        onClose={() => setIsOptingIn(false)}
        title={texts.allowTitle}
        action={texts.allow}
        isDangerous={false}
        onConfirm={optInAgain}
      >
        <p>{texts.allowAbout({ contact: <Handle value={open.contact} /> })}</p>
      </Confirm>
    </Note>
  );
}
