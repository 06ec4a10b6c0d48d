const hasLocks = 'locks' in navigator;

let isLeading = false;
const listeners = new Set<() => void>();

/**
 * One tab of the browser leads: it follows the live stream and notifies while it is hidden, too. The lock passes to
 * another tab when this one closes. Without locks, which plain http lacks, only visible tabs do.
 */
export const leadingTab = {
  hasLocks,
  /** Whether this tab acts for the browser. */
  acts: (): boolean => isLeading || (!hasLocks && isVisible()),
  /** @returns a function that ends the lead, or the wait for it */
  lead: (teamId: string): (() => void) =>
    holdLock(`ownline.live.${teamId}`, 'exclusive', (isHeld) => {
      isLeading = isHeld;
      for (const listener of listeners) listener();
    }),
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

export const isVisible = (): boolean => document.visibilityState === 'visible';

/** Holds a lock from when it is free until the returned function is called. */
export function holdLock(
  name: string,
  mode: LockMode,
  onChange: (isHeld: boolean) => void = () => undefined,
): () => void {
  if (!hasLocks) return () => undefined;
  const ending = new AbortController();
  const held = Promise.withResolvers<void>();
  const work = () => {
    onChange(true);
    return held.promise;
  };
  // The request is rejected if it is ended before it has the lock.
  void navigator.locks.request(name, { mode, signal: ending.signal }, work).catch(() => undefined);
  return () => {
    onChange(false);
    held.resolve();
    ending.abort();
  };
}
