import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from '#web/kit/load-state.tsx';
import { Skeleton } from '#web/kit/skeleton.tsx';
import { useTeam } from '#web/shell/session.ts';
import { type ConversationKey, threadQuery } from './conversation-queries.ts';
import { OptOutBanner } from './opt-out-banner.tsx';
import { ReplyBox } from './reply-box.tsx';
import { ThreadHead } from './thread-head.tsx';
import { ThreadMessages } from './thread-messages.tsx';
import { useReadMark } from './use-read-mark.ts';

/** A conversation: head, messages, reply. */
export function Thread({ open }: { readonly open: ConversationKey }): ReactNode {
  const team = useTeam();
  const thread = useInfiniteQuery(threadQuery(team.id, open));
  const latest = thread.data?.pages[0];
  useReadMark(open, latest);
  if (!latest) {
    return thread.error ? (
      <Failure error={thread.error} onRetry={() => void thread.refetch()} isBusy={thread.isFetching} />
    ) : (
      <Skeleton lines={6} />
    );
  }
  return (
    <>
      <ThreadHead thread={latest} />
      {latest.opt_out && <OptOutBanner optOut={latest.opt_out} contact={open.contact} />}
      <ThreadMessages
        latest={latest}
        messages={thread.data?.pages.flatMap((page) => page.messages) ?? []}
        hasEarlier={thread.hasNextPage}
        isLoadingEarlier={thread.isFetchingNextPage}
        onLoadEarlier={() => void thread.fetchNextPage()}
      />
      <ReplyBox thread={latest} />
    </>
  );
}
