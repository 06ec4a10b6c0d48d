import { Link } from '@tanstack/react-router';
import { Ban, Clock, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Conversation } from '#contract/conversation.ts';
import type { Message } from '#contract/message.ts';
import { Badge } from '#web/kit/badge.tsx';
import { Handle } from '#web/kit/text.tsx';
import { Time } from '#web/kit/time.tsx';
import { numberName } from '#web/numbers/number-name.ts';
import { openedOver } from '#web/shell/leave.ts';
import { useTeam } from '#web/shell/session.ts';
import { texts } from './texts.ts';
import { isUnread, unreadText } from './unread.ts';

export function ConversationRow({
  conversation,
  isOpen,
  isNumberShown,
  isInList = false,
}: {
  readonly conversation: Conversation;
  readonly isOpen: boolean;
  readonly isNumberShown: boolean;
  /** Whether going back from the conversation leads to this list. */
  readonly isInList?: boolean;
}): ReactNode {
  const team = useTeam();
  const { phone_number, contact, last_message, number_label, number_removed, simulated } = conversation;
  const isMarked = isUnread(conversation) && !isOpen;
  return (
    <li className="border-b border-line last:border-0">
      <Link
        to="/teams/$teamId/conversations/$phoneNumber/$contact"
        params={{ teamId: team.id, phoneNumber: phone_number, contact }}
        search={true}
        state={isInList ? openedOver : {}}
        aria-current={isOpen ? 'page' : undefined}
        className="relative block py-3 pr-4 pl-6 outline-offset-[-2px] hover:bg-sunken/70 aria-[current=page]:bg-accent-tint"
      >
        {isMarked && <span className="absolute top-[1.15rem] left-2.5 size-2 rounded-full bg-accent" />}
        <span className="flex items-baseline justify-between gap-2">
          <span className={isMarked ? 'truncate font-semibold' : 'truncate font-medium'}>
            <Handle value={contact} />
          </span>
          <span className="shrink-0 text-xs text-quiet">
            <Time at={conversation.last_activity_at} />
          </span>
        </span>
        <span className="mt-0.5 flex items-center gap-2">
          <span className="line-clamp-2 min-w-0 flex-1 text-[0.8125rem] leading-snug text-quiet">
            <Mark conversation={conversation} />
            <bdi className="[overflow-wrap:anywhere]">{last_message ? preview(last_message) : ''}</bdi>
          </span>
          {isMarked && (
            <span className="shrink-0 rounded-full bg-accent px-1.5 text-[0.6875rem] leading-4.5 font-semibold text-on-accent">
              {unreadText(conversation)}
              <span className="sr-only"> {texts.row.unread}</span>
            </span>
          )}
        </span>
        {(isNumberShown || simulated) && (
          <span className="mt-1 flex items-center gap-1.5 text-xs text-faint">
            {isNumberShown && (
              <span className="truncate">
                <bdi>{numberName({ label: number_label, phone_number })}</bdi>
                {number_removed && ` ${texts.row.deleted}`}
              </span>
            )}
            {simulated && <Badge>{texts.simulated}</Badge>}
          </span>
        )}
      </Link>
    </li>
  );
}

/** An icon for a conversation that needs attention, with a text for screen readers. */
function Mark({
  conversation: { opted_out, queued_count, last_message },
}: {
  readonly conversation: Conversation;
}) {
  const style = 'mr-1 inline size-3.5 align-[-2px]';
  if (opted_out) return <Ban aria-label={texts.row.optedOut} className={`${style} text-bad-ink`} />;
  if (last_message?.status === 'failed') {
    return <TriangleAlert aria-label={texts.row.failed} className={`${style} text-bad-ink`} />;
  }
  if (queued_count > 0) return <Clock aria-label={texts.row.waiting} className={`${style} text-warn-ink`} />;
  return null;
}

function preview({ direction, content, media_url }: Message): string {
  const text = content || (media_url === null ? '' : texts.row.attachment);
  return direction === 'outbound' ? texts.row.you({ text }) : text;
}
