import { createHook } from 'node:async_hooks';

/** Counts the argon2 computations of this process with async_hooks. */
export interface Argon2Watch {
  /** Number of computations since the watch began. */
  readonly runs: () => number;
  /** Greatest number of simultaneous computations. */
  readonly mostAtATime: () => number;
  readonly stop: () => void;
}

export function watchArgon2(): Argon2Watch {
  const open = new Set<number>();
  let runs = 0;
  let most = 0;
  const hook = createHook({
    init: (id, type) => {
      if (type !== 'ARGON2REQUEST') return;
      open.add(id);
      runs += 1;
      most = Math.max(most, open.size);
    },
    // `before` runs once the computation is done, before its callback.
    before: (id) => void open.delete(id),
  }).enable();
  return { runs: () => runs, mostAtATime: () => most, stop: () => void hook.disable() };
}
