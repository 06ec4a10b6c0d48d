import { useLocation, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Whether the previous history entry is the page behind this drawer, or the list behind this conversation. */
    readonly isOpenedOver?: boolean;
  }
}

/** History state for links that open a drawer over its page, or a conversation over the list on a phone. */
export const openedOver = { isOpenedOver: true };

/**
 * Returns a function that closes a drawer or conversation by going back in the history.
 * @param replace replaces the history entry, for a drawer that was opened by its address
 */
export function useLeave(replace: () => void): () => void {
  const router = useRouter();
  const { isOpenedOver = false, __TSR_key: entry } = useLocation().state;
  const isLeaving = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another entry can be left again
  useEffect(() => {
    isLeaving.current = false;
  }, [entry]);
  return () => {
    if (!isOpenedOver) {
      replace();
      return;
    }
    // The browser goes back asynchronously, so a second call would go back twice.
    if (isLeaving.current) return;
    isLeaving.current = true;
    router.history.back();
  };
}
