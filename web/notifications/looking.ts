import { useEffect } from 'react';
import type { ConversationKey } from '#web/conversations/conversation-queries.ts';
import { holdLock, isVisible } from '#web/live/leading-tab.ts';

const lockOf = (teamId: string, { phoneNumber, contact }: ConversationKey) =>
  `ownline.looking.${teamId} ${phoneNumber} ${contact.toLowerCase()}`;

/** Holds a lock while a conversation is open in a visible tab, so that no tab of the browser notifies of it. */
export function useLooking(teamId: string, open: ConversationKey | undefined): void {
  const name = open && lockOf(teamId, open);
  useEffect(() => {
    if (name === undefined) return;
    let end = () => {};
    const follow = () => {
      end();
      end = isVisible() ? holdLock(name, 'shared') : () => {};
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      end();
    };
  }, [name]);
}

/** Whether a tab of this browser shows a conversation. */
export async function isLookedAt(teamId: string, key: ConversationKey): Promise<boolean> {
  if (!('locks' in navigator)) return false;
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === lockOf(teamId, key));
}
