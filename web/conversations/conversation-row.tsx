import { Link } from '@tanstack/react-router';
import { Ban, Check, Clock, TriangleAlert } from 'lucide-react';
import type { KeyboardEvent, ReactNode } from 'react';
import type { Conversation } from '#contract/conversation.ts';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { ContactAvatar } from '#web/kit/avatar.tsx';
import { Badge } from '#web/kit/badge.tsx';
import { useBrowserSetting } from '#web/kit/browser-setting.ts';
import { classNames } from '#web/kit/class-names.ts';
import { isTyping } from '#web/kit/keys.ts';
import { Time } from '#web/kit/time.tsx';
import { numberName } from '#web/numbers/number-name.ts';
import { openedOver } from '#web/shell/leave.ts';
import { useTeam } from '#web/shell/session.ts';
import { density } from './density.ts';
import { texts } from './texts.ts';
import { countText, isUnread } from './unread.ts';
import { useSetWaiting } from './use-set-waiting.ts';

export function ConversationRow({
  conversation,
  isOpen,
  isNumberShown,
  isInList = false,
  isDone = false,
}: {
  readonly conversation: Conversation;
  readonly isOpen: boolean;
  readonly isNumberShown: boolean;
  /** Whether going back from the conversation leads to this list. */
  readonly isInList?: boolean;
  /** Whether a tick says that the conversation waited until it was answered or marked as done. */
  readonly isDone?: boolean;
}): ReactNode {
  const team = useTeam();
  const isCompact = useBrowserSetting(density) === 'compact';
  const { phone_number, contact, name, waiting, number_label, number_removed, simulated } = conversation;
  const isMarked = isUnread(conversation) && !isOpen;
  const onKeyDown = useDoneKey(conversation);
  return (
    <li className="border-b border-line contain-inline-size last:border-0">
      <Link
        to="/teams/$teamId/conversations/$phoneNumber/$contact"
        params={{ teamId: team.id, phoneNumber: phone_number, contact }}
        search={true}
        state={isInList ? openedOver : {}}
        aria-current={isOpen ? 'page' : undefined}
        onKeyDown={onKeyDown}
        className={classNames(
          'relative flex items-center gap-3 pr-3.5 pl-4 outline-offset-[-2px] hover:bg-sunken/70 aria-[current=page]:bg-accent-tint',
          isCompact ? 'py-1' : 'py-2.5',
        )}
      >
        {waiting && <span className="absolute inset-y-1.5 left-0 w-[3px] rounded-r-full bg-accent" />}
        <ContactAvatar
          contact={contact}
          name={name}
          className={isCompact ? 'size-7 text-[0.6875rem]' : 'size-9'}
        />
        <span className="min-w-0 flex-1">
          <span className="flex items-baseline justify-between gap-2">
            <span className={classNames('truncate tabular-nums', isMarked ? 'font-semibold' : 'font-medium')}>
              <bdi>{name ?? formatPhoneNumber(contact)}</bdi>
            </span>
            <span className="shrink-0 text-xs text-quiet">
              <Time at={conversation.last_activity_at} />
            </span>
          </span>
          <span className="flex h-5 items-center gap-2 text-[0.8125rem] text-quiet">
            <span className="min-w-0 flex-1 truncate">
              <Mark conversation={conversation} />
              <bdi>{previewOf(conversation, team.member_id)}</bdi>
            </span>
            {isNumberShown && !simulated && (
              <span className="max-w-28 shrink-0 truncate text-xs text-faint">
                <bdi>{numberName({ label: number_label, phone_number })}</bdi>
                {number_removed && ` ${texts.row.deleted}`}
              </span>
            )}
            {simulated && <Badge>{texts.simulated}</Badge>}
            {isDone && (
              <Badge tone="good">
                <Check aria-hidden="true" className="size-3" />
                {texts.done.done}
              </Badge>
            )}
            {waiting && <span className="sr-only">{texts.row.waiting}</span>}
            {isMarked && (
              <span className="size-2 shrink-0 rounded-full bg-accent">
                <span className="sr-only">
                  {texts.row.unread({ count: countText(conversation.unread_count) })}
                </span>
              </span>
            )}
          </span>
        </span>
      </Link>
    </li>
  );
}

/** The key E on a row marks its conversation as done, or lets it wait again. The focus goes on to the next row. */
function useDoneKey({ phone_number, contact, waiting, last_message }: Conversation) {
  const setWaiting = useSetWaiting();
  return (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== 'e' || isTyping(event.nativeEvent) || !setWaiting || !last_message) return;
    event.preventDefault();
    const row = event.currentTarget.parentElement;
    (row?.nextElementSibling ?? row?.previousElementSibling)?.querySelector('a')?.focus();
    void setWaiting({ phoneNumber: phone_number, contact }, !waiting, last_message.id);
  };
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
  if (queued_count > 0) return <Clock aria-label={texts.row.queued} className={`${style} text-warn-ink`} />;
  return null;
}

/** The beginning of the last message, with its writer: the reader, a colleague by first name, or an API key. */
function previewOf({ last_message }: Conversation, ownId: string): string {
  if (!last_message) return '';
  const { direction, content, media_url, sender } = last_message;
  // The character stands for a picture that the iPhone did not pass on.
  const isLost = content.includes('\ufffc');
  const shown = content.replaceAll('\ufffc', '').trim();
  const text = shown || (media_url === null && !isLost ? '' : texts.row.attachment);
  if (direction === 'inbound') return text;
  if (!sender) return texts.row.sent({ text });
  if (sender.id === ownId) return texts.row.you({ text });
  return texts.row.from({ name: sender.kind === 'key' ? sender.name : firstName(sender.name), text });
}

const firstName = (name: string) => name.trim().split(/\s+/)[0] ?? name;
