import { purgeReadMarks } from '#server/dashboard/conversations/read-store.ts';
import { dropMonths, lastMonthOf } from '#server/database/drop-months.ts';
import type { History } from '#server/database/partitions.ts';
import { PurgeRotation } from '#server/database/purge-rotation.ts';
import { type IdRange, type PurgeBatch, PurgeWalk, purgeInBatches } from '#server/database/purge-walk.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { hasUnfinishedEvents, purgeEvents, removeFromFeed } from '#server/events/purge-events.ts';
import {
  hasUnfinishedMessages,
  purgeConversations,
  purgeInboundIds,
  purgeMessages,
} from '#server/messages/purge-messages.ts';
import { firstIdAt } from '#server/platform/ids/ids.ts';
import { monthOf, startOfNextMonth } from '#server/platform/time/calendar.ts';
import { attemptsKeptMs } from '#server/webhooks/deliveries/purge-attempts.ts';
import { hasPendingDeliveries, purgeDeliveries } from '#server/webhooks/deliveries/purge-deliveries.ts';

/** Duration of a round, pauses included. A stop of the service waits at most this long for the purge. */
const roundMs = 1_000;

/** Interval of the purges that read a whole table, because no index finds their rows. */
const tableMs = 86_400_000;

/** Pause after a round that left nothing to purge, or that found a month in use by another transaction. */
const idleMs = 60_000;

type Services = Pick<Runtime, 'database' | 'clock' | 'config' | 'logger'>;

/**
 * Retention (specification section 10.9): drops whole months that are older than RETENTION_DAYS, then deletes the older
 * days of the month that the bound falls into. Unfinished rows, such as queued messages and pending deliveries, stay
 * until they are finished, and so does their month.
 *
 * Deliveries are deleted before their events, and an event's position before its month. So no page of the feed finds a
 * position without its event.
 */
export class HistoryPurge {
  readonly #services: Services;
  readonly #messages = new PurgeWalk('messages', purgeMessages);
  readonly #deliveries = new PurgeWalk('deliveries', purgeDeliveries);
  readonly #events = new PurgeWalk('events', purgeEvents);
  readonly #rotation = new PurgeRotation([
    () => this.#walk(this.#messages, this.#boundMs),
    () => this.#walk(this.#deliveries, this.#boundMs),
    () => this.#walk(this.#events, Math.min(this.#boundMs, this.#deliveries.reachedMs)),
    () => this.#purgeTables(),
  ]);
  /** The bound of the current round: older rows are deleted. */
  #boundMs = 0;
  #tablesReadAtMs = Number.NEGATIVE_INFINITY;
  #idleUntilMs = Number.NEGATIVE_INFINITY;

  constructor(services: Services) {
    this.#services = services;
  }

  /** Runs a round of about a second. @returns true once nothing is left to purge */
  async run(): Promise<boolean> {
    const { clock } = this.#services;
    if (clock.elapsedMs() < this.#idleUntilMs) return true;
    const areDropped = await this.#dropMonths();
    const isDone = areDropped === true && (await this.#purgeRows());
    if (isDone || areDropped === undefined) this.#idleUntilMs = clock.elapsedMs() + idleMs;
    return isDone;
  }

  /**
   * Drops months that are too old. @returns undefined if a month is in use by another transaction; false if rows must
   * be deleted before their month is dropped
   */
  async #dropMonths(): Promise<boolean | undefined> {
    const { clock, config } = this.#services;
    const { pool } = this.#services.database;
    const lastMonth = lastMonthOf(clock);
    let isReady = true;
    let isLeft = false;
    const drop = async (
      history: History,
      keptMs: number,
      setting: string,
      mayDrop: (range: IdRange) => Promise<boolean> = async () => true,
    ) => {
      const bound = monthOf(clock.in(-keptMs));
      // The newest month stays, because it would be created again; its rows are deleted one by one.
      const isOver = (month: string) => month < bound && month < lastMonth;
      const result = await dropMonths(
        this.#services,
        history,
        async (month) => isOver(month) && mayDrop(rangeOf(month)),
        setting,
      );
      isLeft ||= result.isLeft;
    };

    await drop('attempts', attemptsKeptMs(config), 'DELIVERY_LOG_DAYS');
    const { retentionMs } = config;
    if (retentionMs !== undefined) {
      for (const history of ['messages', 'hand_outs', 'media', 'media_chunks'] as const) {
        await drop(
          history,
          retentionMs,
          'RETENTION_DAYS',
          async (range) => !(await hasUnfinishedMessages(pool, range)),
        );
      }
      const isPending = (range: IdRange) => hasPendingDeliveries(pool, range);
      await drop('deliveries', retentionMs, 'RETENTION_DAYS', async (range) => !(await isPending(range)));
      await drop('events', retentionMs, 'RETENTION_DAYS', async (range) => {
        if ((await isPending(range)) || (await hasUnfinishedEvents(pool, range))) return false;
        isReady &&= await this.#inBatches((trx, limit) => removeFromFeed(trx, range, limit));
        return isReady;
      });
    }
    return isLeft ? undefined : isReady;
  }

  async #purgeRows(): Promise<boolean> {
    const { clock, config } = this.#services;
    if (config.retentionMs === undefined) return true;
    this.#boundMs = clock.nowMs() - config.retentionMs;
    return this.#rotation.run();
  }

  #walk(walk: PurgeWalk, boundMs: number): Promise<boolean> {
    return walk.run(this.#services, boundMs, roundMs);
  }

  async #purgeTables(): Promise<boolean> {
    const { clock } = this.#services;
    const before = new Date(this.#boundMs);
    if (!(await this.#inBatches((trx, limit) => purgeConversations(trx, before, limit)))) return false;
    if (clock.nowMs() - this.#tablesReadAtMs < tableMs) return true;
    const boundId = firstIdAt(this.#boundMs);
    if (!(await this.#inBatches((trx, limit) => purgeReadMarks(trx, boundId, limit)))) return false;
    if (!(await this.#inBatches((trx, limit) => purgeInboundIds(trx, boundId, limit)))) return false;
    this.#tablesReadAtMs = clock.nowMs();
    return true;
  }

  #inBatches(batch: PurgeBatch): Promise<boolean> {
    return purgeInBatches(this.#services, batch, roundMs);
  }
}

/** Computes the range of ids that the rows of a month have. @param month `2026-11-01` */
function rangeOf(month: string): IdRange {
  const from = new Date(month);
  return { from: firstIdAt(from.getTime()), to: firstIdAt(startOfNextMonth(from).getTime()) };
}
