import { Navigate, useParams } from '@tanstack/react-router';
import { type ReactNode, type RefObject, useEffect, useMemo, useRef } from 'react';
import type { ConversationMessage, ConversationMessageList } from '#contract/conversation.ts';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { useList } from '#web/api/lists.ts';
import { Failure, Loaded } from '#web/kit/load-state.tsx';
import { notify } from '#web/kit/toast.tsx';
import { cancelMessage } from '#web/messages/message-queries.ts';
import { fileName, storedPath } from '#web/messages/stored-file.ts';
import { useAdministratorNames } from '#web/shell/administrators.ts';
import { useTeam } from '#web/shell/session.ts';
import type { BubbleActions } from './bubble.tsx';
import type { Outgoing } from './composition-store.ts';
import {
  type ConversationKey,
  markRead,
  rereadConversations,
  showChange,
  threadQuery,
} from './conversation-queries.ts';
import { DropArea } from './drop-area.tsx';
import { MeanwhileDialog } from './meanwhile-dialog.tsx';
import { isPhoneNumber, NoPhoneNumber } from './no-phone-number.tsx';
import { OptOutBanner } from './opt-out-banner.tsx';
import { useReadAhead } from './read-ahead.ts';
import { ReplyBox } from './reply-box.tsx';
import { texts } from './texts.ts';
import { ThreadHead } from './thread-head.tsx';
import { ThreadMessages } from './thread-messages.tsx';
import { markOf } from './unread.ts';
import { type CompositionActions, useComposition } from './use-composition.ts';
import { useFoundMessage } from './use-found-message.ts';

const { hindrances } = texts;

/** The thread that the page's address names. Its code is loaded when the first one is opened. */
export function OpenThread(): ReactNode {
  const open = useParams({ from: '/teams/$teamId/conversations/$phoneNumber/$contact' });
  return <Thread key={`${open.phoneNumber} ${open.contact}`} open={open} />;
}

function Thread({ open }: { readonly open: ConversationKey }): ReactNode {
  const team = useTeam();
  const thread = useList(threadQuery(team.id, open));
  useReadMark(open, thread.query.data?.newest);
  useReadAhead(team.id, open);
  return (
    <Loaded query={thread.query}>
      {({ newest, rows }) => {
        const { number, contact } = newest;
        // The list names a conversation by its normalized contact, so the page's address must contain the same form.
        if (contact !== open.contact)
          return <OtherSpelling open={{ phoneNumber: number.phone_number, contact }} />;
        return <Content open={open} latest={newest} messages={rows} thread={thread} />;
      }}
    </Loaded>
  );
}

/** The draft of a message. The link to a file of this server is none that a message may have. */
const draftOf = (message: ConversationMessage) => ({
  text: message.content,
  mediaUrl: storedPath(message) === undefined ? (message.media_url ?? undefined) : undefined,
});

/** Whether a message of the list is one on its way: by its id, before the answer by its sender and text. */
function isSame({ messageId, state, message, atMs }: Outgoing, listed: ConversationMessage, ownId: string) {
  if (messageId !== undefined) return listed.id === messageId;
  const isOwn = listed.sender?.id === ownId && Date.parse(listed.created_at) >= atMs;
  return isOwn && state !== 'queued' && listed.content === message.text;
}

function OtherSpelling({ open }: { readonly open: ConversationKey }): ReactNode {
  const team = useTeam();
  return (
    <Navigate
      to="/teams/$teamId/conversations/$phoneNumber/$contact"
      params={{ teamId: team.id, ...open }}
      search={true}
      replace
    />
  );
}

function Content({
  open,
  latest,
  messages,
  thread: { hasMore, older },
}: {
  readonly open: ConversationKey;
  readonly latest: ConversationMessageList;
  readonly messages: readonly ConversationMessage[];
  readonly thread: Pick<ReturnType<typeof useList>, 'hasMore' | 'older'>;
}): ReactNode {
  const team = useTeam();
  const hindrance = useHindrance(latest);
  const newestId = latest.messages[0]?.id ?? null;
  // All answers before the oldest message that the page has count as seen.
  const answer = messages.find(({ direction }) => direction === 'outbound') ?? messages.at(-1);
  const [composition, actions] = useComposition(team.id, open, newestId, answer?.id ?? null);
  const field = useRef<HTMLTextAreaElement>(null);
  const bubbleActions = useBubbleActions(open, actions, field, hindrance === undefined);
  // The list may have a message before its answer is here. It is not shown twice.
  const outgoing = composition.outgoing.filter(
    (one) => !messages.some((message) => isSame(one, message, team.member_id)),
  );
  useFoundMessage(messages, { hasMore, older });
  const isGroup = messages.find(({ direction }) => direction === 'inbound')?.group ?? false;
  return (
    <DropArea onFile={hindrance === undefined ? actions.attach : undefined}>
      <ThreadHead thread={latest} />
      {latest.opt_out && <OptOutBanner optOut={latest.opt_out} open={open} />}
      <ThreadMessages
        contactName={latest.name ?? formatPhoneNumber(latest.contact)}
        waiting={latest.queued}
        messages={messages}
        outgoing={outgoing}
        hasEarlier={hasMore}
        isLoadingEarlier={older.isLoading}
        onLoadEarlier={older.load}
        actions={bubbleActions}
      />
      {older.error && <Failure error={older.error} onRetry={older.load} isBusy={older.isLoading} />}
      {hindrance === undefined ? (
        <ReplyBox
          contact={latest.contact}
          isGroup={isGroup}
          composition={composition}
          actions={actions}
          field={field}
        />
      ) : hindrance === hindrances.noPhoneNumber ? (
        <NoPhoneNumber thread={latest} />
      ) : (
        <p className="border-t border-line bg-surface px-5 py-4 text-center text-quiet">{hindrance}</p>
      )}
      <MeanwhileDialog
        outgoing={composition.outgoing.find(({ state }) => state === 'answered')}
        onSend={actions.sendAnyway}
        onKeep={actions.keepAsDraft}
      />
    </DropArea>
  );
}

/** The actions of bubbles. Waiting messages can be cancelled even if nothing can be sent, as from a paused number. */
function useBubbleActions(
  { phoneNumber, contact }: ConversationKey,
  { writeAgain, sendAgain, attach }: CompositionActions,
  field: RefObject<HTMLTextAreaElement | null>,
  canSend: boolean,
): BubbleActions {
  const team = useTeam();
  const mayCancel = team.can('messages:send');
  return useMemo<BubbleActions>(() => {
    const edit = (message: ConversationMessage) => {
      writeAgain(draftOf(message));
      field.current?.focus();
      const path = storedPath(message);
      if (path === undefined) return;
      void fetch(path)
        .then((answer) => answer.blob())
        .then((blob) => attach(new File([blob], fileName(message), { type: blob.type })))
        .catch((error: Error) => notify(texts.noFile, error.message));
    };
    // A file of this server is uploaded anew, so that the person sees it before it goes out.
    const send = (message: ConversationMessage) =>
      storedPath(message) === undefined ? sendAgain(draftOf(message)) : edit(message);
    const cancel = ({ id }: ConversationMessage) =>
      void cancelMessage(team.id, id)
        .catch((error: Error) => notify(texts.notCancelled, error.message))
        .then(() => rereadConversations(team.id, { phoneNumber, contact }));
    return { ...(canSend && { edit, send }), ...(mayCancel && { cancel }) };
  }, [team.id, phoneNumber, contact, writeAgain, sendAgain, attach, field, canSend, mayCancel]);
}

/** The reason why the person cannot send in a conversation, with the next step; undefined if they can. */
function useHindrance({ number, contact, opt_out }: ConversationMessageList): string | undefined {
  const team = useTeam();
  const administrators = useAdministratorNames();
  const canManage = team.can('numbers:write');
  if (!team.can('messages:send')) return hindrances.role({ administrators });
  if (opt_out) return hindrances.optedOut;
  if (number.removed) return hindrances.deleted;
  if (!number.verified) return hindrances.notConnected;
  if (number.status === 'paused')
    return canManage ? hindrances.pausedResume : hindrances.paused({ administrators });
  if (!isPhoneNumber(contact)) return hindrances.noPhoneNumber;
  return undefined;
}

/** Moves the member's read mark to the newest message while the conversation is open in a visible tab. */
function useReadMark(open: ConversationKey, latest: ConversationMessageList | undefined): void {
  const team = useTeam();
  const { phoneNumber, contact } = open;
  const newest = markOf(latest);
  useEffect(() => {
    if (newest === undefined) return;
    const key = { phoneNumber, contact };
    const mark = async () => {
      if (document.visibilityState !== 'visible') return;
      showChange(team.id, key, { unread_count: 0 });
      await markRead(team.id, key, newest);
      await rereadConversations(team.id, key);
    };
    // A failure is ignored, because the next message or visit moves the mark.
    const tryMark = () => void mark().catch(() => undefined);
    tryMark();
    document.addEventListener('visibilitychange', tryMark);
    return () => document.removeEventListener('visibilitychange', tryMark);
  }, [team.id, phoneNumber, contact, newest]);
}
