import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import type { ConversationMessage, ConversationMessageList } from '#contract/conversation.ts';
import { Button } from '#web/kit/button.tsx';
import { nowMs } from '#web/kit/clock.ts';
import { dayOf } from '#web/kit/relative-time.ts';
import { useTeam } from '#web/shell/session.ts';
import { Bubble, type BubbleActions } from './bubble.tsx';
import type { Outgoing } from './composition-store.ts';
import { isNearEnd, nearEndPixels } from './end-shown.ts';
import { texts } from './texts.ts';

/** The messages of a conversation, oldest first, with a heading for each day. */
export function ThreadMessages({
  contactName,
  waiting,
  messages,
  outgoing,
  hasEarlier,
  isLoadingEarlier,
  onLoadEarlier,
  actions,
}: {
  readonly contactName: string;
  readonly waiting: ConversationMessageList['queued'];
  /** Newest first. */
  readonly messages: readonly ConversationMessage[];
  /** Messages that are not in the list yet, in the order in which they are sent. */
  readonly outgoing: readonly Outgoing[];
  readonly hasEarlier: boolean;
  readonly isLoadingEarlier: boolean;
  readonly onLoadEarlier: () => void;
  readonly actions: BubbleActions;
}): ReactNode {
  const { member_id: ownId } = useTeam();
  const frame = useRef<HTMLDivElement>(null);
  const newestId = messages[0]?.id;
  const oldestId = messages.at(-1)?.id;
  const list = useRef<HTMLOListElement>(null);
  useStayAtEnd(frame, list, newestId, outgoing.at(-1)?.idempotencyKey);
  useKeepPosition(frame, oldestId);
  const sent = useMemo(() => outgoing.map((one) => asMessage(one, ownId)), [outgoing, ownId]);
  const shown = [...messages.toReversed(), ...sent];
  const now = nowMs();
  const lastOutbound = shown.findLast(({ direction }) => direction === 'outbound');
  return (
    <div
      ref={frame}
      className="relative flex min-h-0 flex-1 flex-col overflow-y-auto px-4 py-4 print:overflow-visible md:px-6"
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
                sending={outgoing[index - messages.length]?.state}
                file={outgoing[index - messages.length]?.message.file}
                isStatusShown={message.id === lastOutbound?.id}
                isTimeShown={endsGroup(message, shown[index + 1])}
                author={message.direction === 'inbound' ? contactName : authorOf(message, ownId)}
                isAuthorShown={endsGroup(message, shown[index + 1])}
                actions={actions}
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
  if (next?.direction !== message.direction || next.sender?.id !== message.sender?.id) return true;
  return Date.parse(next.created_at) - Date.parse(message.created_at) > groupGapMs;
}

function authorOf({ sender }: ConversationMessage, ownId: string): string {
  if (!sender) return texts.bubble.team;
  if (sender.id === ownId) return texts.bubble.you;
  return sender.kind === 'key' ? texts.bubble.key({ name: sender.name }) : sender.name;
}

/** Shows a message on its way like those of the list, so that nothing moves when the list has it. */
const asMessage = ({ message, idempotencyKey, atMs }: Outgoing, ownId: string): ConversationMessage => ({
  id: idempotencyKey,
  to: '',
  from: '',
  content: message.text,
  media_url: message.mediaUrl?.trim() || null,
  status: 'queued',
  direction: 'outbound',
  created_at: new Date(atMs).toISOString(),
  delivered_at: null,
  sent_at: null,
  failed_at: null,
  error_code: null,
  error_message: null,
  may_have_been_sent: false,
  sender: { kind: 'member', id: ownId, name: '' },
});

/**
 * Keeps the view at the end of the conversation, even after a picture loads, unless the person has scrolled up. A message
 * of the person scrolls to the end.
 */
function useStayAtEnd(
  frame: RefObject<HTMLDivElement | null>,
  list: RefObject<HTMLOListElement | null>,
  newestId: string | undefined,
  sentKey: string | undefined,
): void {
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const { current } = frame;
    if (current && sentKey !== undefined) current.scrollTop = current.scrollHeight;
  }, [frame, sentKey]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new message moves the end
  useLayoutEffect(() => {
    const { current } = frame;
    if (current && isAtEnd.current) current.scrollTop = current.scrollHeight;
  }, [frame, newestId]);
  useEffect(() => {
    const { current } = frame;
    if (!current || !list.current) return;
    let lastTop = current.scrollTop;
    const note = () => {
      const { scrollTop } = current;
      // Only a person scrolls up. A picture that loads moves the end away from a view that stays.
      if (isNearEnd(current)) isAtEnd.current = true;
      else if (scrollTop < lastTop) isAtEnd.current = false;
      lastTop = scrollTop;
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
