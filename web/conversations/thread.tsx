import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useRef } from 'react';
import type { ConversationMessage } from '#contract/conversation.ts';
import { Failure, Loaded } from '#web/kit/load-state.tsx';
import { useTeam } from '#web/shell/session.ts';
import { type ConversationKey, loadEarlier, threadQuery } from './conversation-queries.ts';
import { useHindrance } from './hindrance.ts';
import { OptOutBanner } from './opt-out-banner.tsx';
import { ReplyBox } from './reply-box.tsx';
import { ThreadHead } from './thread-head.tsx';
import { ThreadMessages } from './thread-messages.tsx';
import type { Thread as ReadThread } from './thread-pages.ts';
import { useDraft } from './use-draft.ts';
import { useReadMark } from './use-read-mark.ts';

/** A conversation: head, messages, reply. */
export function Thread({ open }: { readonly open: ConversationKey }): ReactNode {
  const team = useTeam();
  const thread = useQuery(threadQuery(team.id, open));
  useReadMark(open, thread.data?.latest);
  return <Loaded query={thread}>{(data) => <Content open={open} thread={data} />}</Loaded>;
}

function Content({
  open,
  thread,
}: {
  readonly open: ConversationKey;
  readonly thread: ReadThread;
}): ReactNode {
  const team = useTeam();
  const { latest, messages, hasEarlier } = thread;
  const loading = useMutation({ mutationFn: () => loadEarlier(team.id, open) });
  const hindrance = useHindrance(latest);
  const [draft, setDraft] = useDraft(team.id, open);
  const field = useRef<HTMLTextAreaElement>(null);
  const keepDraft = useRef(setDraft);
  keepDraft.current = setDraft;
  const sendAgain = useCallback(({ content, media_url }: ConversationMessage) => {
    keepDraft.current({ text: content, mediaUrl: media_url ?? undefined });
    field.current?.focus();
  }, []);
  return (
    <>
      <ThreadHead thread={latest} />
      {latest.opt_out && <OptOutBanner optOut={latest.opt_out} open={open} />}
      <ThreadMessages
        waiting={latest.waiting}
        messages={messages}
        hasEarlier={hasEarlier}
        isLoadingEarlier={loading.isPending}
        onLoadEarlier={() => loading.mutate()}
        onSendAgain={hindrance === undefined ? sendAgain : undefined}
      />
      {loading.error && (
        <Failure error={loading.error} onRetry={() => loading.mutate()} isBusy={loading.isPending} />
      )}
      {hindrance === undefined ? (
        <ReplyBox thread={latest} draft={draft} onDraft={setDraft} field={field} />
      ) : (
        <p className="border-t border-line bg-surface px-5 py-4 text-center text-quiet">{hindrance}</p>
      )}
    </>
  );
}
