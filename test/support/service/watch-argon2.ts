import { createHook } from 'node:async_hooks';

/** Counts the argon2 computations of this process with async_hooks, and the most of them at a time. */
export function watchArgon2() {
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
