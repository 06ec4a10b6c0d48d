import { useLocation, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The entry before is the page over which this one was opened. */
    readonly isOpenedOver?: boolean;
  }
}

/** The state of a link that opens something over its page: a drawer, or on a phone a conversation over the list. */
export const openedOver = { isOpenedOver: true };

/**
 * Leaves what was opened over a page: the browser goes back, so that no entry of its history is added.
 * @param replace for what was opened by its address: puts the page in its place
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
    // The browser goes back a moment later. Asked twice, it would go back twice.
    if (isLeaving.current) return;
    isLeaving.current = true;
    router.history.back();
  };
}
