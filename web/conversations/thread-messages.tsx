import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import type { ConversationMessage, ConversationMessageList } from '#contract/conversation.ts';
import { Button } from '#web/kit/button.tsx';
import { nowMs } from '#web/kit/clock.ts';
import { dayOf } from '#web/kit/relative-time.ts';
import { useTeam } from '#web/shell/session.ts';
import { Bubble, type Retry } from './bubble.tsx';
import { texts } from './texts.ts';

/** A new message scrolls to the end only if the view is within this distance of the end. */
const nearEndPixels = 120;

/** The messages of a conversation, oldest first, with a heading for each day. */
export function ThreadMessages({
  waiting,
  messages,
  hasEarlier,
  isLoadingEarlier,
  onLoadEarlier,
  retry,
}: {
  readonly waiting: ConversationMessageList['queued'];
  /** Newest first. */
  readonly messages: readonly ConversationMessage[];
  readonly hasEarlier: boolean;
  readonly isLoadingEarlier: boolean;
  readonly onLoadEarlier: () => void;
  readonly retry: Retry | undefined;
}): ReactNode {
  const { member_id: ownId } = useTeam();
  const frame = useRef<HTMLDivElement>(null);
  const newestId = messages[0]?.id;
  const oldestId = messages.at(-1)?.id;
  const list = useRef<HTMLOListElement>(null);
  useStayAtEnd(frame, list, newestId);
  useKeepPosition(frame, oldestId);
  const shown = messages.toReversed();
  const now = nowMs();
  const lastOutbound = messages.find(({ direction }) => direction === 'outbound');
  return (
    <div
      ref={frame}
      className="relative flex min-h-0 flex-1 flex-col overflow-y-auto px-4 py-4 md:px-6"
      role="log"
      aria-label={texts.messages.title}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it only while it has the focus
      tabIndex={0}
    >
      {hasEarlier && (
        <div className="mb-3 text-center">
          <Button size="small" isBusy={isLoadingEarlier} onClick={onLoadEarlier}>
            {texts.messages.showEarlier}
          </Button>
        </div>
      )}
      {shown.length === 0 && <p className="py-10 text-center text-quiet">{texts.messages.none}</p>}
      <ol ref={list} className="mx-auto mt-auto flex w-full max-w-3xl flex-col">
        {shown.map((message, index) => {
          const day = dayOf(message.created_at, now);
          const before = shown[index - 1];
          const isNewDay = !before || dayOf(before.created_at, now) !== day;
          return (
            <li
              key={message.id}
              id={message.id}
              className={before && before.direction === message.direction && !isNewDay ? 'mt-1' : 'mt-3'}
            >
              {isNewDay && <p className="mt-1 mb-3 text-center text-xs font-medium text-quiet">{day}</p>}
              <Bubble
                message={message}
                waiting={message.status === 'queued' ? waiting : null}
                isStatusShown={message.id === lastOutbound?.id}
                isTimeShown={endsGroup(message, shown[index + 1])}
                senderName={senderNameOf(message, shown[index + 1], ownId)}
                retry={message.status === 'failed' ? retry : undefined}
              />
            </li>
          );
        })}
      </ol>
    </div>
  );
}

/** Messages of one side form a group if each follows the previous one within this time. The last one shows its time. */
const groupGapMs = 5 * 60_000;

function endsGroup(message: ConversationMessage, next: ConversationMessage | undefined): boolean {
  if (next?.direction !== message.direction) return true;
  return Date.parse(next.created_at) - Date.parse(message.created_at) > groupGapMs;
}

/** The sender's name below the last message of a group; undefined for the reader's own messages. */
function senderNameOf(
  { sender }: ConversationMessage,
  next: ConversationMessage | undefined,
  ownId: string,
): string | undefined {
  if (!sender || sender.id === ownId || sender.id === next?.sender?.id) return undefined;
  return sender.kind === 'key' ? texts.bubble.key({ name: sender.name }) : sender.name;
}

/** Keeps the view at the end of the conversation, even after a picture loads, unless the person has scrolled up. */
function useStayAtEnd(
  frame: RefObject<HTMLDivElement | null>,
  list: RefObject<HTMLOListElement | null>,
  newestId: string | undefined,
): void {
  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new message moves the end
  useLayoutEffect(() => {
    const { current } = frame;
    if (current && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [frame, newestId]);
  useEffect(() => {
    const { current } = frame;
    if (!current || !list.current) return;
    const note = () => {
      isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < nearEndPixels;
    };
    const sizes = new ResizeObserver(() => {
      if (isAtEnd.current) current.scrollTop = current.scrollHeight;
    });
    sizes.observe(list.current);
    sizes.observe(current);
    current.addEventListener('scroll', note, { passive: true });
    return () => {
      sizes.disconnect();
      current.removeEventListener('scroll', note);
    };
  }, [frame, list]);
}

/** Keeps the scroll position while earlier messages are inserted above. */
function useKeepPosition(frame: RefObject<HTMLDivElement | null>, oldestId: string | undefined): void {
  const before = useRef<{ readonly oldestId: string | undefined; readonly height: number }>(undefined);
  useLayoutEffect(() => {
    const { current } = frame;
    if (!current) return;
    const { scrollHeight } = current;
    if (before.current && before.current.oldestId !== oldestId && current.scrollTop < nearEndPixels) {
      current.scrollTop += scrollHeight - before.current.height;
    }
    before.current = { oldestId, height: scrollHeight };
  });
}
