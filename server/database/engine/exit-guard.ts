const guards = new Set<() => void>();

/**
 * Runs a function when this process exits by process.exit or an uncaught exception. It must be synchronous, because the
 * event loop has stopped by then.
 * @returns a function that unregisters it
 */
export function runAtExit(guard: () => void): () => void {
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
 * Sends the signals one after another until the process has ended. The event loop is blocked until then.
 * @param target a process id, or a negative one for a process group
 */
export function endProcessSync(target: number, isRunning: () => boolean, endings: readonly Ending[]): void {
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
