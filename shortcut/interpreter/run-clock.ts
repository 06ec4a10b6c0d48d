/** The clock of a run. Tests pass one that they move. */
export interface RunClock {
  /** Calls back once `ms` have passed. The returned function cancels. */
  after(ms: number, callback: () => void): () => void;
}

/** The clock of this machine. */
export const realClock: RunClock = {
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves once `ms` have passed, or the signal aborts. */
export function sleep(clock: RunClock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
}
