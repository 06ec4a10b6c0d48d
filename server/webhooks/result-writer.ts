import { isDatabaseAway } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { Batcher } from '#server/platform/batcher.ts';
import { publicId } from '#server/platform/ids.ts';
import type { AttemptResult } from './attempt-delivery.ts';
import { processPlaces } from './delivery-limits.ts';
import { recordResults } from './record-results.ts';

/** How long the first result waits for others: many are then written by one commit. */
const gatherMs = 3;
const resultsMax = 256;
const pauseMs = 500;

type Services = Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets' | 'logger'>;

interface WriterOptions {
  readonly onDisabled: (webhooks: number) => void;
}

/**
 * Gathers results and writes them in batches, one at a time, so that a webhook's are counted in the order in which they
 * came. While the database is away they are kept and written again and again, until their lease is over: then the attempt
 * is made again, and what is known of this one is dropped.
 */
export class ResultWriter {
  readonly #services: Services;
  readonly #options: WriterOptions;
  readonly #batches: Batcher<AttemptResult, 'written' | 'dropped'>;

  constructor(services: Services, options: WriterOptions) {
    this.#services = services;
    this.#options = options;
    this.#batches = new Batcher({
      run: (results) => this.#write(results),
      sizeMax: resultsMax,
      inFlightMax: 1,
      windowMs: gatherMs,
      // No more than there are places.
      waitingMax: processPlaces * 2,
      refuse: () => unavailable('Too many results wait.'),
    });
  }

  /** Resolves once it is written, or given up. */
  async write(result: AttemptResult): Promise<void> {
    await this.#batches.add(result);
  }

  async #write(results: readonly AttemptResult[]): Promise<('written' | 'dropped')[]> {
    try {
      await this.#record(results);
      return results.map(() => 'written');
    } catch (error) {
      if (results.length === 1) this.#log(error, results);
      // One that can't be written must not take the others with it.
      else for (const result of results) await this.#write([result]);
      return results.map(() => 'dropped');
    }
  }

  /** Results of one delivery go one after the other; there are two only where a lease ran out. */
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
            'results of attempts could not be written; they are kept and written again',
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
      'the result of an attempt could not be written; the attempt is made again when its lease is over',
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
