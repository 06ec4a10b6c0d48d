import { setTimeout as pause } from 'node:timers/promises';
import { isDatabaseAway, isUniqueViolation } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { Batcher } from '#server/platform/concurrency/batcher.ts';
import { publicId, type WebhookId } from '#server/platform/ids.ts';
import { processSlots } from '#server/webhooks/limits.ts';
import type { AttemptResult } from './attempt-delivery.ts';
import { recordResults } from './record-results.ts';

/** Time that the first result waits for others, so that one commit writes many. */
const windowMs = 3;
const resultsMax = 512;
/** Number of batchers for results without failures; they write concurrently, each for different webhooks. */
const plainWriters = 2;
const pauseMs = 500;
/** The pause before a result is tried again whose webhook another transaction has locked. */
const lockedPauseMs = 100;

type Batch = Batcher<AttemptResult, 'handled' | 'locked'>;

/** The results of a webhook that wait. */
interface WaitingResults {
  readonly batch: Batch;
  waiting: number;
  /** Ends with the last result that waits for a lock; the webhook's next result waits for it, to keep the order. */
  locked: Promise<void> | undefined;
}

/**
 * Writes results in batches. Batches with results of one webhook are written in order, so that failures count in order.
 * Failures have a separate batcher, because counting them takes locks and may skip a long backlog. Successes of other
 * teams must not wait for that. If another transaction has locked rows of a webhook, its results leave the batches. They
 * are tried one at a time, fair between teams, because each try holds a connection that group commits need.
 *
 * While the database is away, writing a result is repeated until its lease ends. Then the result is dropped, and
 * another process makes the attempt again.
 */
export class ResultWriter {
  readonly #services: Runtime;
  readonly #onDisabled: (webhooks: number) => void;
  readonly #plain: readonly Batch[];
  readonly #counting: Batch;
  readonly #locked: Batch;
  /**
   * The batcher in which results of a webhook wait. The webhook's next result waits behind them in the same batcher.
   */
  readonly #batchOfWebhook = new Map<WebhookId, WaitingResults>();
  #nextPlain = 0;

  constructor(services: Runtime, onDisabled: (webhooks: number) => void) {
    this.#services = services;
    this.#onDisabled = onDisabled;
    const open = (sizeMax = resultsMax): Batch =>
      new Batcher({
        run: async (results) => {
          const locked = new Set(await this.#write(results));
          return results.map((result) => (locked.has(result) ? 'locked' : 'handled'));
        },
        sizeMax,
        inFlightMax: 1,
        windowMs,
        queueOf: ({ claimed }) => claimed.team_id,
        // This bound is never reached, because at most one result per slot waits.
        waitingMax: processSlots * 2,
        refuse: () => unavailable('Too many results of attempts wait to be written.'),
      });
    this.#plain = Array.from({ length: plainWriters }, open);
    this.#counting = open();
    this.#locked = open(1);
  }

  /** Resolves once the result was written or dropped. */
  async write(result: AttemptResult): Promise<void> {
    const { webhook_id: id } = result.claimed;
    const waiting: WaitingResults = this.#batchOfWebhook.get(id) ?? {
      batch: this.#batchFor(result),
      waiting: 0,
      locked: undefined,
    };
    this.#batchOfWebhook.set(id, waiting);
    waiting.waiting += 1;
    try {
      if (!waiting.locked && (await waiting.batch.add(result)) === 'handled') return;
      const turn = (waiting.locked ?? Promise.resolve()).then(() => this.#writeLocked(result));
      waiting.locked = turn;
      await turn;
      if (waiting.locked === turn) waiting.locked = undefined;
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

  /** Tries a result until its webhook is no longer locked, or its lease has ended. */
  async #writeLocked(result: AttemptResult): Promise<void> {
    while ((await this.#locked.add(result)) === 'locked') {
      if (result.claimed.leased_until <= this.#services.clock.now())
        return this.#log(new Error('its webhook is locked'), [result]);
      await pause(lockedPauseMs);
    }
  }

  /** @returns the results whose webhook is locked */
  async #write(results: readonly AttemptResult[]): Promise<AttemptResult[]> {
    try {
      return await this.#record(results);
    } catch (error) {
      // A result that can't be written must not prevent the others, so each is written alone.
      if (results.length > 1) {
        const locked: AttemptResult[] = [];
        for (const result of results) locked.push(...(await this.#write([result])));
        return locked;
      }
      // If the attempt exists already, an earlier try was committed, and only the reply to its commit was lost.
      if (!isUniqueViolation(error, 'attempts')) this.#log(error, results);
      return [];
    }
  }

  /**
   * Writes results of the same delivery one after the other; a delivery has two only after a lease expired.
   * @returns the results whose webhook is locked
   */
  async #record(results: readonly AttemptResult[]): Promise<AttemptResult[]> {
    const { clock, logger } = this.#services;
    const waiting: AttemptResult[] = [];
    for (const batch of eachDeliveryOnce(results)) {
      for (;;) {
        try {
          const { disabled, locked } = await recordResults(this.#services, batch);
          if (disabled > 0) this.#onDisabled(disabled);
          waiting.push(...locked);
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
    return waiting;
  }

  #log(error: unknown, [result]: readonly AttemptResult[]): void {
    this.#services.logger.error(
      {
        err: error,
        delivery: result && publicId('dlv', result.claimed.delivery_id),
        outcome: result?.outcome,
      },
      'writing the result of an attempt failed; the attempt is repeated when the lease of its delivery ends',
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
