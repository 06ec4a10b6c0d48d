import { auditHistory } from '#server/audit/audit.ts';
import { purgeReadMarks } from '#server/dashboard/conversations/conversation-facts.ts';
import {
  type PurgeEnd,
  PurgeWalk,
  purgeBatchMax,
  purgeInBatches,
  purgeTransaction,
} from '#server/database/purge-walk.ts';
import type { Transaction } from '#server/database/query.ts';
import {
  eventsOfMessageMs,
  type HistoryName,
  keptMs,
  saveRetentionProgress,
} from '#server/database/retention.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { eventHistory } from '#server/events/erase-events.ts';
import { purgeConversationAnswers } from '#server/messages/answer-store.ts';
import { messageHistory, purgeConversations, purgeInboundIds } from '#server/messages/purge-messages.ts';
import { firstIdAt } from '#server/platform/ids.ts';
import { attemptHistory, deliveryHistory } from '#server/webhooks/deliveries/purge-deliveries.ts';

/** Duration of a round, pauses included. A stop of the service waits at most this long for the purge. */
const roundMs = 1_000;

/** Interval of the purges that read a whole table, because no index finds their rows. */
const tableMs = 86_400_000;

/** Pause after a round that left nothing to purge. */
const idleMs = 60_000;

/**
 * Pauses after batches, as multiples of the batch's duration: the usual one, and the one while deletion is over an hour
 * late.
 */
const usualPauseFactor = 3;
const latePauseFactor = 1;
const lateMs = 3_600_000;

type Walk = Pick<PurgeWalk, 'name' | 'reachedMs' | 'walkedMs' | 'run'>;

/**
 * Retention (specification section 10.9): deletes old rows day by day. Attempts are deleted after DELIVERY_LOG_DAYS,
 * entries of the audit log after AUDIT_DAYS, and messages with all that belongs to them after RETENTION_DAYS.
 * Unfinished rows, such as queued messages and pending deliveries, stay until they are finished.
 *
 * Deliveries are deleted before their events, and events before their messages: each walk stays behind the walk over
 * the rows that refer to its rows. Otherwise a walk would skip rows whose referring rows are deleted a moment later.
 */
export class HistoryPurge {
  readonly #services: Runtime;
  readonly #attempts = new PurgeWalk(attemptHistory(() => firstIdAt(this.#boundMs('attempts') ?? 0)));
  readonly #deliveries = new PurgeWalk(deliveryHistory);
  readonly #events = new PurgeWalk(eventHistory);
  readonly #messages = new PurgeWalk(messageHistory);
  readonly #audit = new PurgeWalk(auditHistory);
  readonly #rotation = new PurgeRotation([
    () => this.#walk(this.#attempts),
    () => this.#walk(this.#deliveries),
    () => this.#walk(this.#events, this.#deliveries.reachedMs),
    () => this.#walk(this.#messages, this.#events.reachedMs - eventsOfMessageMs),
    () => this.#purgeTables(),
    () => this.#walk(this.#audit),
  ]);
  #tablesReadAtMs = Number.NEGATIVE_INFINITY;
  #idleUntilMs = Number.NEGATIVE_INFINITY;

  constructor(services: Runtime) {
    this.#services = services;
  }

  /** Runs a round of about a second. @returns `cut` if rows are left, and the next round may begin at once */
  async run(): Promise<PurgeEnd> {
    const { clock, database } = this.#services;
    if (clock.elapsedMs() < this.#idleUntilMs) return 'done';
    const end = await this.#rotation.run();
    if (end === 'done') this.#idleUntilMs = clock.elapsedMs() + idleMs;
    const walks = [this.#attempts, this.#deliveries, this.#events, this.#messages, this.#audit];
    await saveRetentionProgress(database.pool, walks);
    return end;
  }

  /** The time before which rows of a table are deleted; undefined: they are kept. */
  #boundMs(history: HistoryName): number | undefined {
    const { clock, config } = this.#services;
    const ms = keptMs(config)[history];
    return ms === undefined ? undefined : clock.nowMs() - ms;
  }

  /**
   * @param behindMs the time that the walk may not pass: the position of the walk over the rows that refer to its rows
   */
  async #walk(walk: Walk, behindMs = Number.POSITIVE_INFINITY): Promise<PurgeEnd> {
    const boundMs = this.#boundMs(walk.name);
    if (boundMs === undefined) return 'done';
    const isLate = boundMs - walk.walkedMs > lateMs;
    const pace = { budgetMs: roundMs, pauseFactor: isLate ? latePauseFactor : usualPauseFactor };
    return walk.run(this.#services, Math.min(boundMs, behindMs), pace);
  }

  async #purgeTables(): Promise<PurgeEnd> {
    const { clock } = this.#services;
    const boundMs = this.#boundMs('events');
    if (boundMs === undefined) return 'done';
    const before = new Date(boundMs);
    const conversations = await this.#inBatches((trx) =>
      purgeConversations(trx, { before, limit: purgeBatchMax }),
    );
    if (conversations !== 'done' || clock.nowMs() - this.#tablesReadAtMs < tableMs) return conversations;
    const boundId = firstIdAt(boundMs);
    for (const purge of [purgeReadMarks, purgeConversationAnswers, purgeInboundIds]) {
      const end = await this.#inBatches((trx) => purge(trx, { before: boundId, limit: purgeBatchMax }));
      if (end !== 'done') return end;
    }
    this.#tablesReadAtMs = clock.nowMs();
    return 'done';
  }

  #inBatches(batch: (trx: Transaction) => Promise<number>): Promise<PurgeEnd> {
    return purgeInBatches({ budgetMs: roundMs, pauseFactor: usualPauseFactor }, () =>
      purgeTransaction(this.#services, batch),
    );
  }
}

/** Does a part of a purge within a bounded time. */
type PurgeStep = () => Promise<PurgeEnd>;

/**
 * Runs purge steps in turn, until one runs out of time. The next run begins with the step after that one, so a step
 * that never finishes or fails delays no other.
 */
export class PurgeRotation {
  readonly #steps: readonly PurgeStep[];
  #next = 0;

  constructor(steps: readonly PurgeStep[]) {
    this.#steps = steps;
  }

  /** @returns the end of the first step that was not done, else `done` */
  async run(): Promise<PurgeEnd> {
    const first = this.#next;
    const ordered = [...this.#steps.slice(first), ...this.#steps.slice(0, first)];
    for (const step of ordered) {
      this.#next = (this.#next + 1) % this.#steps.length;
      const end = await step();
      if (end !== 'done') return end;
    }
    this.#next = 0;
    return 'done';
  }
}
