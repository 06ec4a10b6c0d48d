const guards = new Set<() => void>();

/**
 * Registers work for the moment in which this process ends, however JavaScript ends it: process.exit or an exception
 * that nothing caught. It must not wait for the event loop, which stands still by then.
 * @returns a function that takes it back
 */
export function guardExit(guard: () => void): () => void {
  if (guards.size === 0 && !process.listeners('exit').includes(runGuards)) process.on('exit', runGuards);
  guards.add(guard);
  return () => void guards.delete(guard);
}

function runGuards(): void {
  for (const guard of guards) guard();
}

interface Ending {
  readonly signal: NodeJS.Signals;
  readonly limitMs: number;
}

/**
 * Sends one signal after the other until the process has ended, blocking this one meanwhile.
 * @param target a process id, or a negative one for a process group
 */
export function endBlocking(target: number, isRunning: () => boolean, endings: readonly Ending[]): void {
  for (const { signal, limitMs } of endings) {
    if (!isRunning()) return;
    try {
      process.kill(target, signal);
    } catch {
      return;
    }
    const deadlineMs = performance.now() + limitMs;
    while (isRunning() && performance.now() < deadlineMs) blockFor(10);
  }
}

const never = new Int32Array(new SharedArrayBuffer(4));

function blockFor(ms: number): void {
  Atomics.wait(never, 0, 0, ms);
}
