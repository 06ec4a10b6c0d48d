import { useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ConversationMessage } from '#contract/conversation.ts';
import type { useList } from '#web/api/lists.ts';

/** How long the mark of a found message takes to fade. */
const markMs = 2_500;

/**
 * Scrolls to the message that the page's address names, and marks it for a moment. Until the message is loaded, it
 * loads older ones.
 */
export function useFoundMessage(
  messages: readonly ConversationMessage[],
  { hasMore, older }: Pick<ReturnType<typeof useList>, 'hasMore' | 'older'>,
): void {
  const { hash: id, state } = useLocation();
  const isLoaded = messages.some((message) => message.id === id);
  const isOlder = /^msg_/.test(id) && !isLoaded && hasMore && (messages.at(-1)?.id ?? '') > id;
  const isNext = isOlder && !older.isLoading && !older.error;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that was loaded may need one more
  useEffect(() => {
    if (isNext) older.load();
  }, [isNext, messages.length]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same result may be chosen again
  useEffect(() => {
    const shown = isLoaded ? document.getElementById(id) : null;
    if (!shown) return;
    shown.scrollIntoView({ block: 'center' });
    shown.animate([{ backgroundColor: 'var(--warn-tint)' }, { backgroundColor: 'transparent' }], markMs);
  }, [id, isLoaded, state.__TSR_key]);
}
