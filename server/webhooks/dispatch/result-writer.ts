import { isDatabaseAway, isUniqueViolation } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { Batcher } from '#server/platform/concurrency/batcher.ts';
import { publicId, type WebhookId } from '#server/platform/ids/ids.ts';
import { processSlots } from '#server/webhooks/limits.ts';
import type { AttemptResult } from './attempt-delivery.ts';
import { recordResults } from './record-results.ts';

/** How long the first result waits for others, so that one commit writes many. */
const windowMs = 3;
const resultsMax = 512;
/** Batchers for results without failures, each for other webhooks, that write at once. */
const plainWriters = 2;
const pauseMs = 500;

type Services = Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets' | 'logger'>;

type Batch = Batcher<AttemptResult, 'seen to'>;

interface WriterOptions {
  readonly onDisabled: (webhooks: number) => void;
}

/**
 * Gathers results and writes them in batches. Batches of a webhook are written one at a time, so that results are
 * counted in their order. Failures have a batcher of their own: counting them takes locks, and the tenth skips a
 * backlog.
 * Successes of other teams do not wait for that.
 *
 * While the database is away, results are kept and written again until their lease has expired. Then the attempt is
 * made again, and the result of this one is dropped.
 */
export class ResultWriter {
  readonly #services: Services;
  readonly #options: WriterOptions;
  readonly #plain: readonly Batch[];
  readonly #counting: Batch;
  /** The batcher in which a webhook's results wait: its next result goes to the same one, behind them. */
  readonly #batchOfWebhook = new Map<WebhookId, { readonly batch: Batch; waiting: number }>();
  #nextPlain = 0;

  constructor(services: Services, options: WriterOptions) {
    this.#services = services;
    this.#options = options;
    const open = (): Batch =>
      new Batcher({
        run: async (results) => {
          await this.#write(results);
          return results.map(() => 'seen to');
        },
        sizeMax: resultsMax,
        inFlightMax: 1,
        windowMs: windowMs,
        // Never reached: at most as many results wait as there are slots.
        waitingMax: processSlots * 2,
        refuse: () => unavailable('Too many results wait.'),
      });
    this.#plain = Array.from({ length: plainWriters }, open);
    this.#counting = open();
  }

  /** Resolves once the result is written or given up. */
  async write(result: AttemptResult): Promise<void> {
    const { webhook_id: id } = result.claimed;
    const waiting = this.#batchOfWebhook.get(id) ?? { batch: this.#batchFor(result), waiting: 0 };
    this.#batchOfWebhook.set(id, waiting);
    waiting.waiting += 1;
    try {
      await waiting.batch.add(result);
    } finally {
      waiting.waiting -= 1;
      if (waiting.waiting === 0) this.#batchOfWebhook.delete(id);
    }
  }

  #batchFor({ claimed, outcome }: AttemptResult): Batch {
    if (outcome !== 'succeeded' || claimed.failure_count > 0) return this.#counting;
    this.#nextPlain = (this.#nextPlain + 1) % plainWriters;
    return this.#plain[this.#nextPlain] ?? this.#counting;
  }

  async #write(results: readonly AttemptResult[]): Promise<void> {
    try {
      await this.#record(results);
    } catch (error) {
      // A result that can't be written must not fail the others.
      if (results.length > 1) for (const result of results) await this.#write([result]);
      // A result whose attempt is in the log was committed: only the answer to the commit was lost.
      else if (!isUniqueViolation(error, 'attempts')) this.#log(error, results);
    }
  }

  /** Results of one delivery are written one after the other; there are two only after an expired lease. */
  async #record(results: readonly AttemptResult[]): Promise<void> {
    const { clock, logger } = this.#services;
    for (const batch of eachDeliveryOnce(results)) {
      for (;;) {
        try {
          const { disabled } = await recordResults(this.#services, batch);
          if (disabled > 0) this.#options.onDisabled(disabled);
          break;
        } catch (error) {
          const isOver = batch.every(({ claimed }) => claimed.leased_until <= clock.now());
          if (!isDatabaseAway(error) || isOver) throw error;
          logger.warn(
            { err: error },
            'writing results of attempts failed; they are kept, and the server retries',
          );
          await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
        }
      }
    }
  }

  #log(error: unknown, [result]: readonly AttemptResult[]): void {
    this.#services.logger.error(
      {
        err: error,
        delivery: result && publicId('dlv', result.claimed.delivery_id),
        outcome: result?.outcome,
      },
      'writing the result of an attempt failed; the attempt is made again when its lease ends',
    );
  }
}

function eachDeliveryOnce(results: readonly AttemptResult[]): AttemptResult[][] {
  const batches: { readonly ids: Set<string>; readonly results: AttemptResult[] }[] = [];
  for (const result of results) {
    const id = result.claimed.delivery_id;
    const batch = batches.find(({ ids }) => !ids.has(id));
    if (batch) {
      batch.ids.add(id);
      batch.results.push(result);
    } else batches.push({ ids: new Set([id]), results: [result] });
  }
  return batches.map((batch) => batch.results);
}
