import type { Logger } from './logger.ts';

/** How long a part may take to close; what is in hand takes less (a held poll is answered at once). */
const closingMs = 20_000;

type Step = { readonly name: string; readonly close: () => Promise<void> };

/**
 * Owns the signals of the process. Promise: the first SIGTERM or SIGINT stops taking work, finishes what is in
 * hand and closes everything in the reverse order of its opening; a second one exits at once. A part that does not
 * close in time is logged and left behind.
 */
export class Lifecycle {
  readonly #logger: Logger;
  readonly #steps: Step[] = [];
  #closing: Promise<void> | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get stopping(): boolean {
    return this.#closing !== undefined;
  }

  onClose(name: string, close: () => Promise<void>): void {
    this.#steps.push({ name, close });
  }

  listenForSignals(): void {
    const onSignal = (signal: NodeJS.Signals) => {
      if (this.stopping) process.exit(1);
      this.#logger.info({ signal }, 'stopping: finishing what is in hand; a second signal exits at once');
      this.close().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (const step of this.#steps.reverse()) {
      try {
        await within(closingMs, step.close());
      } catch (error) {
        this.#logger.error({ err: error, step: step.name }, 'a part did not close cleanly');
      }
    }
  }
}

async function within(ms: number, closing: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`did not close within ${ms} ms`)), ms);
  await Promise.race([closing, promise]).finally(() => clearTimeout(timer));
}
