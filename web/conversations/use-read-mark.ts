import { useEffect } from 'react';
import type { ConversationMessageList } from '#contract/conversation.ts';
import { useTeam } from '#web/shell/session.ts';
import { type ConversationKey, markRead, rereadConversations, showAsRead } from './conversation-queries.ts';
import { markOf } from './unread.ts';

/** Moves the member's read mark to the newest message while the conversation is open in a visible tab. */
export function useReadMark(open: ConversationKey, latest: ConversationMessageList | undefined): void {
  const team = useTeam();
  const { phoneNumber, contact } = open;
  const newest = markOf(latest);
  useEffect(() => {
    if (newest === undefined) return;
    const key = { phoneNumber, contact };
    const mark = async () => {
      if (document.visibilityState !== 'visible') return;
      showAsRead(team.id, key);
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
