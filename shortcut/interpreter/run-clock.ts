/** The clock of a run. Tests pass a clock that they move. */
export interface RunClock {
  /** Calls back after `ms`. @returns a function that cancels the call */
  after(ms: number, callback: () => void): () => void;
}

export const realClock: RunClock = {
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or when the signal aborts. */
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
