import { createHook } from 'node:async_hooks';

/** The argon2 that this process computes, as Node's own bookkeeping knows them. */
export interface Argon2Watch {
  /** Begun since the watch began. */
  readonly runs: () => number;
  /** The most that were computed at one time. */
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
    // Its callback begins: the work is done.
    before: (id) => void open.delete(id),
  }).enable();
  return { runs: () => runs, mostAtATime: () => most, stop: () => void hook.disable() };
}
