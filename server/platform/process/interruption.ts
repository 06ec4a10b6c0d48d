import { constants } from 'node:os';
import { StartError } from '#server/platform/start-error.ts';

/** SIGHUP comes when the terminal closes, SIGQUIT from Ctrl-\. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Signals within this time count as one: a Ctrl-C arrives twice within milliseconds, from the terminal and from npm.
 */
const sameSignalMs = 1_000;

/** Thrown after a signal has aborted the command and the command has cleaned up. */
export class InterruptedError extends StartError {
  /** The exit code that shells expect: 130 after SIGINT, 143 after SIGTERM. */
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals, outcome: string, cause: unknown) {
    super(`Interrupted by ${signal}: ${outcome}`, cause);
    this.name = 'InterruptedError';
    this.exitCode = exitCodeOf(signal);
  }
}

/**
 * Runs work that a signal aborts, so that the work can clean up. A second signal, more than a second later, exits at
 * once.
 * @param outcome tells the operator the state after the abort and the next step
 * @param work calls `commit` before the step that can't be undone: later signals then neither exit nor report `outcome`
 * @throws InterruptedError if the work was aborted; otherwise the work's own error
 */
export async function withInterruption<T>(
  outcome: string,
  work: (signal: AbortSignal, commit: () => void) => Promise<T>,
): Promise<T> {
  const stopping = new AbortController();
  let isCommitting = false;
  let first: { readonly signal: NodeJS.Signals; readonly atMs: number } | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (first === undefined) {
      first = { signal, atMs: performance.now() };
      stopping.abort(new Error(`interrupted by ${signal}`));
    } else if (!isCommitting && performance.now() - first.atMs > sameSignalMs) {
      process.exit(exitCodeOf(signal));
    }
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await work(stopping.signal, () => {
      isCommitting = true;
    });
  } catch (error) {
    throw first && !isCommitting ? new InterruptedError(first.signal, outcome, error) : error;
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
}

function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
