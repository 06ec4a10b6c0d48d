import { findNextEntry, purgeAudit } from '#server/audit/purge-audit.ts';
import { purgeReadMarks } from '#server/dashboard/conversations/read-store.ts';
import { PurgeRotation } from '#server/database/purge-rotation.ts';
import { type PurgeBatch, PurgeWalk, purgeInBatches } from '#server/database/purge-walk.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { findNextEvent, purgeEvents } from '#server/events/purge-events.ts';
import {
  findNextMessage,
  purgeConversations,
  purgeInboundIds,
  purgeMessages,
} from '#server/messages/purge-messages.ts';
import { firstIdAt } from '#server/platform/ids/ids.ts';
import {
  attemptsKeptMs,
  findNextAttempt,
  purgeAttempts,
} from '#server/webhooks/deliveries/purge-attempts.ts';
import { findNextDelivery, purgeDeliveries } from '#server/webhooks/deliveries/purge-deliveries.ts';

/** Duration of a round, pauses included. A stop of the service waits at most this long for the purge. */
const roundMs = 1_000;

/** Interval of the purges that read a whole table, because no index finds their rows. */
const tableMs = 86_400_000;

/** Pause after a round that left nothing to purge. */
const idleMs = 60_000;

type Services = Pick<Runtime, 'database' | 'clock' | 'config'>;

/** Bounds of a round, by the time in the ids; undefined: nothing is deleted. */
interface Bounds {
  readonly attemptsMs: number;
  readonly historyMs: number | undefined;
  readonly auditMs: number | undefined;
}

/**
 * Retention (specification section 10.9): deletes old rows day by day. Attempts go after DELIVERY_LOG_DAYS, entries of
 * the audit log after AUDIT_DAYS, and messages with all that belongs to them after RETENTION_DAYS. Unfinished rows, such
 * as queued messages and pending deliveries, stay until they are finished.
 *
 * Deliveries are deleted before their events, so that an event whose deliveries are finished is not skipped until the
 * next walk. A message may go before its events, which are younger: each counts by its own time.
 */
export class HistoryPurge {
  readonly #services: Services;
  readonly #attempts = new PurgeWalk(findNextAttempt, (trx, range, limit) =>
    purgeAttempts(trx, range, firstIdAt(this.#bounds().attemptsMs), limit),
  );
  readonly #deliveries = new PurgeWalk(findNextDelivery, purgeDeliveries);
  readonly #events = new PurgeWalk(findNextEvent, purgeEvents);
  readonly #messages = new PurgeWalk(findNextMessage, purgeMessages);
  readonly #audit = new PurgeWalk(findNextEntry, purgeAudit);
  readonly #rotation = new PurgeRotation([
    () => this.#walk(this.#attempts, this.#bounds().attemptsMs),
    () => this.#walk(this.#deliveries, this.#bounds().historyMs),
    () => this.#walk(this.#events, this.#bounds().historyMs, this.#deliveries),
    () => this.#walk(this.#messages, this.#bounds().historyMs),
    () => this.#purgeTables(),
    () => this.#walk(this.#audit, this.#bounds().auditMs),
  ]);
  #tablesReadAtMs = Number.NEGATIVE_INFINITY;
  #idleUntilMs = Number.NEGATIVE_INFINITY;

  constructor(services: Services) {
    this.#services = services;
  }

  /** Runs a round of about a second. @returns true once nothing is left to purge */
  async run(): Promise<boolean> {
    const { clock } = this.#services;
    if (clock.elapsedMs() < this.#idleUntilMs) return true;
    const isDone = await this.#rotation.run();
    if (isDone) this.#idleUntilMs = clock.elapsedMs() + idleMs;
    return isDone;
  }

  #bounds(): Bounds {
    const { clock, config } = this.#services;
    const before = (keptMs: number | undefined) =>
      keptMs === undefined ? undefined : clock.nowMs() - keptMs;
    return {
      attemptsMs: clock.nowMs() - attemptsKeptMs(config),
      historyMs: before(config.retentionMs),
      auditMs: before(config.auditMs),
    };
  }

  /** @param children the walk over rows that refer to those of this walk, which stays behind it */
  async #walk(walk: PurgeWalk, boundMs: number | undefined, children?: PurgeWalk): Promise<boolean> {
    if (boundMs === undefined) return true;
    return walk.run(this.#services, Math.min(boundMs, children?.reachedMs ?? boundMs), roundMs);
  }

  async #purgeTables(): Promise<boolean> {
    const { clock } = this.#services;
    const { historyMs } = this.#bounds();
    if (historyMs === undefined) return true;
    const before = new Date(historyMs);
    if (!(await this.#inBatches((trx, limit) => purgeConversations(trx, before, limit)))) return false;
    if (clock.nowMs() - this.#tablesReadAtMs < tableMs) return true;
    const boundId = firstIdAt(historyMs);
    if (!(await this.#inBatches((trx, limit) => purgeReadMarks(trx, boundId, limit)))) return false;
    if (!(await this.#inBatches((trx, limit) => purgeInboundIds(trx, boundId, limit)))) return false;
    this.#tablesReadAtMs = clock.nowMs();
    return true;
  }

  #inBatches(batch: PurgeBatch): Promise<boolean> {
    return purgeInBatches(this.#services, batch, roundMs);
  }
}
