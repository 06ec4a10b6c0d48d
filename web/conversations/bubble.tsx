import { Clock, Paperclip } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ConversationMessage, ConversationMessageList } from '#contract/conversation.ts';
import { basePath } from '#web/api/base-path.ts';
import { classNames } from '#web/kit/class-names.ts';
import { nowMs } from '#web/kit/clock.ts';
import { exactTime, relativeTime, timeOfDay } from '#web/kit/format.ts';
import { statusTexts, waitingTexts } from '#web/messages/status-texts.ts';

type Waiting = ConversationMessageList['waiting'];

/** A message as Messages shows it: ours at the right, theirs at the left, its state below. */
export function Bubble({
  message,
  waiting,
  isStatusShown,
}: {
  readonly message: ConversationMessage;
  readonly waiting: Waiting;
  /** Of the newest sent one; one that waits or failed shows its state anyway. */
  readonly isStatusShown: boolean;
}): ReactNode {
  const isOurs = message.direction === 'outbound';
  return (
    <div
      className={classNames('flex max-w-[85%] flex-col gap-1 md:max-w-[72%]', isOurs && 'ml-auto items-end')}
    >
      {message.media_url !== null && <Attachment url={message.media_url} isOurs={isOurs} />}
      {message.content !== '' && (
        <p
          title={exactTime(message.created_at)}
          className={classNames(
            'w-fit rounded-[1.15rem] px-3.5 py-2 leading-snug whitespace-pre-wrap',
            isOurs ? 'rounded-br-md bg-accent text-on-accent' : 'rounded-bl-md bg-bubble',
            message.status === 'failed' && 'bg-bad-tint text-bad-ink',
          )}
        >
          {message.content}
        </p>
      )}
      <State message={message} waiting={waiting} isStatusShown={isStatusShown} />
    </div>
  );
}

function State({ message, waiting, isStatusShown }: Parameters<typeof Bubble>[0]): ReactNode {
  const { status, direction, created_at } = message;
  const style = 'px-1 text-xs text-quiet';
  if (direction === 'inbound') return <span className="sr-only">Received {timeOfDay(created_at)}</span>;
  if (status === 'failed') {
    return (
      <p className="px-1 text-xs text-bad-ink">
        Not sent. {message.error_message}
        {message.may_have_been_sent && ' It may have arrived all the same.'}
      </p>
    );
  }
  if (status === 'queued') {
    return (
      <p className={style}>
        <Clock aria-hidden="true" className="mr-1 inline size-3 align-[-1.5px]" />
        Waiting. {reasonOf(message, waiting)}
      </p>
    );
  }
  if (!isStatusShown && status !== 'polling') return null;
  const at = message.delivered_at ?? message.sent_at ?? created_at;
  return (
    <p className={style}>
      {statusTexts[status].text} {timeOfDay(at)}
    </p>
  );
}

function reasonOf({ id }: ConversationMessage, waiting: Waiting): string {
  if (!waiting?.reason) return '';
  if (waiting.message_id !== id) return waitingTexts.earlier_message;
  const expected = waiting.expected_at ? ` Expected ${relativeTime(waiting.expected_at, nowMs())}.` : '';
  return `${waitingTexts[waiting.reason]}${expected}`;
}

/** A file that was received is stored here and shown if it is a picture; one that was sent has an address elsewhere. */
function Attachment({ url, isOurs }: { readonly url: string; readonly isOurs: boolean }): ReactNode {
  const path = isOurs ? undefined : /\/media\/.+$/.exec(new URL(url).pathname)?.[0];
  const name = decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '') || 'Attachment';
  if (path !== undefined && /\.(jpe?g|png|gif|webp|heic)$/i.test(path)) {
    return (
      <a href={`${basePath}${path}`} target="_blank" rel="noreferrer" className="block">
        <img
          src={`${basePath}${path}`}
          alt={`Received: ${name}`}
          loading="lazy"
          className="max-h-80 min-h-24 min-w-24 rounded-2xl border border-line bg-sunken object-contain"
        />
      </a>
    );
  }
  return (
    <a
      href={path === undefined ? url : `${basePath}${path}`}
      target="_blank"
      rel="noreferrer"
      className="flex w-fit max-w-full items-center gap-2 rounded-2xl border border-line bg-surface px-3.5 py-2.5 text-ink hover:bg-sunken"
    >
      <Paperclip aria-hidden="true" className="size-4 shrink-0 text-quiet" />
      <span className="truncate">{name}</span>
    </a>
  );
}
