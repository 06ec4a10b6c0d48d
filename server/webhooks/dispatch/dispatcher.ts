import { idsOf } from '#server/database/channels.ts';
import { isStatementTimeout } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { Loop } from '#server/platform/concurrency/loop.ts';
import { wholeLook } from '#server/platform/concurrency/low-water-mark.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { publicId, type TeamId, type WebhookId } from '#server/platform/ids.ts';
import type { OutboundHttp } from '#server/platform/outbound-http/outbound-http.ts';
import {
  claimBatchMax,
  dispatcherStopMs,
  examinedWebhooksMax,
  leaseMarginMs,
  processSlots,
} from '#server/webhooks/limits.ts';
import { findQueuedWebhooks } from '#server/webhooks/queue/pending-deliveries.ts';
import { type AttemptServices, attemptDelivery, createOpenSecrets } from './attempt-delivery.ts';
import {
  type ClaimedDelivery,
  type ClaimedPage,
  claimDeliveries,
  releaseDelivery,
  skipDelivery,
} from './claim-deliveries.ts';
import { createDeliveryMetrics, type DeliveryMetrics } from './delivery-metrics.ts';
import { createLastTriggered } from './record-results.ts';
import { ResultWriter } from './result-writer.ts';
import { WaitingWebhooks } from './waiting-webhooks.ts';

/** Interval of the rounds that find deliveries without an alarm, such as those whose lease has ended. */
const sweepMs = 1_000;

/** Time that the first freed slot waits for further slots, so that one claim fills all of them. */
const gatherMs = 4;

type Services = Runtime & { readonly outbound: Pick<OutboundHttp, 'send'> };

/**
 * Dispatcher of deliveries (specification section 6.3, decision 0017). A round claims due deliveries for the free
 * slots. Attempts run outside of transactions, and their results are written in batches. A round begins when new
 * deliveries are notified, an attempt becomes due or slots become free, and once a second. A round examines the webhooks
 * that notifications named or that had deliveries before, each lane from a low-water mark on. A look at the whole queue
 * in the background finds what notifications missed, and what was committed late. Several processes claim
 * different deliveries; during a restore hold none claims any. If a process dies, its deliveries are attempted again
 * once their leases have ended.
 *
 * After `stop` was called, no attempt begins. Attempts in progress have 10 s. Then they are aborted, and another
 * process makes them again. Each result is written.
 */
export class Dispatcher {
  readonly #services: Services;
  readonly #loop: Loop;
  readonly #lookLoop: Loop;
  readonly #waiting = new WaitingWebhooks();
  readonly #lastTriggered: ReturnType<typeof createLastTriggered>;
  readonly #lastTriggeredLoop: Loop;
  readonly #writer: ResultWriter;
  readonly #metrics: DeliveryMetrics;
  readonly #attemptServices: AttemptServices;
  readonly #attempts = new Set<Promise<void>>();
  /** The number of attempts in progress, by team. */
  readonly #inFlight = new Map<TeamId, number>();
  readonly #abort = new AbortController();
  /** Slots that became free since the last round was requested. */
  #freedSlots = 0;
  #gathering: NodeJS.Timeout | undefined;
  #isStopping = false;
  #cancelAlarm = () => {};

  constructor(services: Services) {
    this.#services = services;
    const { logger } = services;
    this.#attemptServices = { ...services, openSecrets: createOpenSecrets(services.secrets) };
    this.#lastTriggered = createLastTriggered(services);
    this.#metrics = createDeliveryMetrics(services, () => this.#attempts.size);
    this.#writer = new ResultWriter(services, this.#metrics.disabled);
    const loop = { intervalMs: sweepMs, logger };
    this.#loop = new Loop({ ...loop, name: 'make deliveries', run: () => this.#fillSlots() });
    this.#lookLoop = new Loop({
      ...loop,
      ...wholeLook,
      name: 'look for deliveries',
      run: () => this.#look(),
    });
    this.#lastTriggeredLoop = new Loop({
      ...loop,
      name: 'write when webhooks were triggered',
      run: () => this.#lastTriggered.flush(),
    });
  }

  get loops(): readonly Loop[] {
    return [this.#loop, this.#lookLoop, this.#lastTriggeredLoop];
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  /** Requests a round, because deliveries may be due. @param payload the ids of their webhooks; empty: any */
  notify(payload = ''): void {
    const ids = idsOf<WebhookId>(payload);
    if (ids) this.#waiting.add(ids);
    (ids ? this.#loop : this.#lookLoop).notify();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#cancelAlarm();
    clearTimeout(this.#gathering);
    await Promise.all([this.#lookLoop.stop(), this.#loop.stop()]);
    const cancel = this.#services.clock.after(dispatcherStopMs, () => this.#abort.abort());
    await Promise.all(this.#attempts);
    cancel();
    await this.#lastTriggeredLoop.stop();
    await this.#lastTriggeredLoop.runOnce();
  }

  /** Looks at the whole queue, for webhooks that no notification named and for rows below a mark. */
  async #look(): Promise<void> {
    try {
      for (const { id, ...due } of await findQueuedWebhooks(this.#services.database.pages))
        this.#waiting.lower(id, due);
    } catch (error) {
      // Beside millions of dead rows a look takes too long each time. Claims then have to look below the marks.
      if (isStatementTimeout(error)) this.#waiting.forgetMarks();
      throw error;
    } finally {
      this.#loop.notify();
    }
  }

  /**
   * Claims due deliveries until no slot is free, or until no webhook has more. A claim covers a page of webhooks; those
   * whose last claim is the longest ago come first. At the end, an alarm is set for the next attempt that becomes due.
   */
  async #fillSlots(): Promise<void> {
    if (this.#services.restoreHold.isHeld) return;
    let alarmAt: Date | undefined;
    let walk = this.#waiting.ids;
    // A claim that fills all free slots may leave due rows of its webhooks. Then another walk follows.
    let needsAnotherWalk = false;
    while (!this.#isStopping) {
      const free = Math.min(claimBatchMax, processSlots - this.#attempts.size);
      if (free <= 0) break;
      if (walk.length === 0) {
        if (!needsAnotherWalk) break;
        needsAnotherWalk = false;
        walk = this.#waiting.ids;
      }
      const page = await this.#claim(walk.splice(0, examinedWebhooksMax), free);
      for (const claimed of page.deliveries) this.#begin(claimed);
      if (page.nextDueAt && (!alarmAt || page.nextDueAt < alarmAt)) alarmAt = page.nextDueAt;
      if (page.deliveries.length === free) needsAnotherWalk = true;
    }
    this.#setAlarm(alarmAt);
  }

  async #claim(ids: readonly WebhookId[], free: number): Promise<ClaimedPage> {
    const { database, clock, config } = this.#services;
    const now = clock.now();
    const webhooks = this.#waiting.take(ids, now);
    try {
      const page = await claimDeliveries(database.hot, {
        now,
        leasedUntil: clock.in(config.webhookTimeoutMs + leaseMarginMs, now),
        free,
        inFlight: this.#inFlight,
        webhooks,
      });
      this.#waiting.see(page.seen, performance.now());
      return page;
    } catch (error) {
      this.#waiting.add(ids);
      throw error;
    }
  }

  #setAlarm(at: Date | undefined): void {
    this.#cancelAlarm();
    const { clock } = this.#services;
    if (at) this.#cancelAlarm = clock.after(at.getTime() - clock.nowMs(), () => this.#loop.notify());
  }

  #begin(claimed: ClaimedDelivery): void {
    failpoint('delivery claimed');
    const { team_id: teamId } = claimed;
    this.#inFlight.set(teamId, (this.#inFlight.get(teamId) ?? 0) + 1);
    const attempt = this.#attempt(claimed).finally(() => {
      this.#attempts.delete(attempt);
      const inFlight = (this.#inFlight.get(teamId) ?? 1) - 1;
      if (inFlight > 0) this.#inFlight.set(teamId, inFlight);
      else this.#inFlight.delete(teamId);
      this.#onSlotFree();
    });
    this.#attempts.add(attempt);
  }

  /** Many slots become free within milliseconds, so after a short wait one claim can fill all of them. */
  #onSlotFree(): void {
    this.#freedSlots += 1;
    if (this.#freedSlots === 1) this.#gathering = setTimeout(() => this.#refill(), gatherMs);
    if (this.#freedSlots === claimBatchMax) this.#refill();
  }

  #refill(): void {
    clearTimeout(this.#gathering);
    this.#freedSlots = 0;
    this.#loop.notify();
  }

  /** Never rejects: a delivery whose result could not be written is attempted again after its lease. */
  async #attempt(claimed: ClaimedDelivery): Promise<void> {
    const { database, clock, config, logger } = this.#services;
    try {
      const { webhook_id: webhookId, delivery_id: deliveryId, lease, body } = claimed;
      // If this process was delayed since the claim, its data may be stale, and another process may soon claim the
      // delivery.
      const isLeaseShort = claimed.leased_until < clock.in(config.webhookTimeoutMs);
      if (this.#isStopping || isLeaseShort)
        return await releaseDelivery(database.pool, { webhookId, deliveryId, lease });
      if (body === null) {
        return await skipDelivery(database.pool, { webhookId, deliveryId, lease, at: clock.now() });
      }
      const result = await attemptDelivery(this.#attemptServices, claimed, body, this.#abort.signal);
      this.#lastTriggered.record(webhookId, result.startedAt);
      this.#metrics.attempted(result);
      await this.#writer.write(result);
      // The retry may be due below the lane's mark, but not before the start of this attempt.
      if (result.outcome !== 'succeeded')
        this.#waiting.lower(webhookId, { retry: result.startedAt.getTime() });
    } catch (error) {
      logger.error(
        { err: error, delivery: publicId('dlv', claimed.delivery_id) },
        'an attempt failed inside the server; it is repeated when the lease of its delivery ends',
      );
    }
  }
}
