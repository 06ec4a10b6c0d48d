import { execFile } from 'node:child_process';
import type { Logger } from './logger.ts';

/** Time-out for closing a part. Requests in progress end earlier, because a held long poll is answered at once. */
const closingMs = 20_000;

/** Signals that stop the process. SIGHUP: the terminal was closed. SIGQUIT: Ctrl-\. */
const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Window in which several signals count as one stop, because npm and the terminal, or npm and `timeout`, each send one.
 */
const sameStopMs = 1_000;

type Step = { readonly name: string; readonly close: () => Promise<void> };

/**
 * Handles the signals of the process. The first signal stops taking work, finishes work in progress, and closes
 * everything in the reverse order of opening. A start in progress is aborted first. Signals within one second of the
 * first count as the same signal; a later one exits at once. A part that does not close in time is logged and
 * abandoned.
 */
export class Lifecycle {
  readonly #logger: Logger;
  readonly #steps: Step[] = [];
  readonly #stopping = new AbortController();
  #isStarting = false;
  #closing: Promise<boolean> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** An AbortSignal that aborts when the process has to stop, which also ends a start in progress. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get stopping(): boolean {
    return this.#stopping.signal.aborted || this.#closing !== undefined;
  }

  onClose(name: string, close: () => Promise<void>): void {
    this.#steps.push({ name, close });
  }

  listenForSignals(): void {
    let firstAtMs: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      if (firstAtMs === undefined) {
        firstAtMs = performance.now();
        this.#logger.info(
          { signal },
          'stopping: finishing requests and work in progress; another signal exits at once',
        );
        this.#stopping.abort(new Error(`stopped by ${signal}`));
        if (!this.#isStarting) this.close().then((isClean) => process.exit(isClean ? 0 : 1));
      } else if (performance.now() - firstAtMs > sameStopMs) {
        this.#logger.warn({ signal }, 'exiting at once: requests in progress are cut off');
        process.exit(1);
      }
    };
    for (const signal of stopSignals) process.on(signal, onSignal);
  }

  /**
   * Runs the start. If it fails or a signal stops it, closes the parts that it has opened.
   * @throws the error of the start, or the reason of `signal`
   */
  async start<T>(open: () => Promise<T>): Promise<T> {
    this.#isStarting = true;
    try {
      const opened = await open();
      this.signal.throwIfAborted();
      return opened;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      this.#isStarting = false;
    }
  }

  /** Closes all parts. @returns true if every part closed without an error */
  close(): Promise<boolean> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<boolean> {
    let isClean = true;
    for (const step of this.#steps.reverse()) {
      try {
        await within(closingMs, step.close());
      } catch (error) {
        isClean = false;
        this.#logger.error({ err: error, step: step.name }, 'a part of the service did not close cleanly');
      }
    }
    return isClean;
  }
}

async function within(ms: number, closing: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`this part did not close within ${ms} ms`)), ms);
  await Promise.race([closing, promise]).finally(() => clearTimeout(timer));
}

/** Notifies systemd that a unit of Type=notify is ready, so that `systemctl start` returns. */
export function notifySystemd(logger: Logger): void {
  execFile('systemd-notify', ['--ready'], (error) => {
    if (error) logger.warn({ err: error }, 'systemd could not be notified that the service is ready');
  });
}
