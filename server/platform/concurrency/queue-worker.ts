import type { Logger } from '#server/platform/process/logger.ts';
import type { Clock } from '#server/platform/time/clock.ts';
import { Loop } from './loop.ts';

interface QueueWorkerOptions<Task> {
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Interval of the sweep, which also finds due tasks without a notification. */
  readonly sweepMs: number;
  readonly runningMax: number;
  /** Time that tasks in progress have after `stop`, before their signal aborts. */
  readonly stopMs: number;
  /** Claims due tasks with a lease, at most as many as there are free slots. */
  readonly claim: (running: readonly Task[]) => Promise<readonly Task[]>;
  /** Runs a claimed task and writes its outcome. Never rejects. */
  readonly run: (task: Task, signal: AbortSignal) => Promise<void>;
}

/**
 * Queue worker: runs tasks that it claims with a lease. A round only fills free slots, and the end of each task
 * requests a round, so that one slow task delays no other.
 *
 * Promise of `stop`: no task begins after it. Tasks in progress have `stopMs`, then they are aborted.
 */
export class QueueWorker<Task> {
  readonly #options: QueueWorkerOptions<Task>;
  readonly #loop: Loop;
  readonly #running = new Map<Promise<void>, Task>();
  readonly #abort = new AbortController();

  constructor(options: QueueWorkerOptions<Task>) {
    this.#options = options;
    const { name, sweepMs, logger } = options;
    this.#loop = new Loop({ name, intervalMs: sweepMs, logger, run: () => this.#fill() });
  }

  get loops(): readonly Loop[] {
    return [this.#loop];
  }

  start(): void {
    this.#loop.start();
  }

  /** Requests a round, because a task may be due. */
  notify(): void {
    this.#loop.notify();
  }

  async stop(): Promise<void> {
    const { clock, stopMs } = this.#options;
    await this.#loop.stop();
    const cancel = clock.after(stopMs, () => this.#abort.abort());
    await Promise.all(this.#running.keys());
    cancel();
  }

  async #fill(): Promise<void> {
    const { runningMax, claim, run } = this.#options;
    if (this.#running.size >= runningMax) return;
    for (const task of await claim([...this.#running.values()])) {
      const running = run(task, this.#abort.signal).finally(() => {
        this.#running.delete(running);
        this.notify();
      });
      this.#running.set(running, task);
    }
  }
}
