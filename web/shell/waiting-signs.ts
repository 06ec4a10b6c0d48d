import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { WaitingConversations } from '#contract/conversation.ts';
import { basePath } from '#web/api/base-path.ts';
import { queryClient } from '#web/api/query-client.ts';
import { waitingQuery } from '#web/conversations/conversation-queries.ts';
import { countText } from '#web/conversations/unread.ts';
import { setTitleCount } from '#web/kit/title.ts';
import { isVisible, leadingTab } from '#web/live/leading-tab.ts';
import { useTeam } from './session.ts';

/** Shows in the title and in the icon of the tab that conversations wait, also while the tab is hidden. */
export function useWaitingSigns(): void {
  const team = useTeam();
  const { data } = useQuery({
    ...waitingQuery(team.id),
    enabled: team.can('messages:read'),
    refetchIntervalInBackground: !leadingTab.hasLocks,
  });
  const count = data?.waiting_conversations ?? 0;
  useEffect(() => {
    setTitleCount(count === 0 ? '' : countText(count));
    setIcon(count === 0 ? '/favicon.ico' : '/icon-waiting.svg');
    return () => {
      setTitleCount('');
      setIcon('/favicon.ico');
    };
  }, [count]);
  useShared(team.id, data);
}

/** Passes on what this tab has read to hidden tabs, which have no live stream. */
function useShared(teamId: string, data: WaitingConversations | undefined): void {
  useEffect(() => {
    const channel = new BroadcastChannel(`ownline.waiting.${teamId}`);
    channel.onmessage = (event) => {
      if (!isVisible() && !leadingTab.acts())
        queryClient.setQueryData<WaitingConversations>(waitingQuery(teamId).queryKey, event.data);
    };
    if (data && (isVisible() || leadingTab.acts())) channel.postMessage(data);
    return () => channel.close();
  }, [teamId, data]);
}

function setIcon(path: string): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  if (link) link.href = `${basePath}${path}`;
}
