import type { Runtime } from '#server/database/runtime.ts';
import { Loop } from '#server/platform/concurrency/loop.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import { publicId, type TeamId } from '#server/platform/ids/ids.ts';
import type { OutboundHttp } from '#server/platform/outbound-http/outbound-http.ts';
import { claimBatchMax, dispatcherStopMs, leaseMarginMs, processSlots } from '#server/webhooks/limits.ts';
import { type AttemptServices, attemptDelivery } from './attempt-delivery.ts';
import { type ClaimedDelivery, claimDeliveries, firstWebhookId } from './claim-deliveries.ts';
import { createDeliveryMetrics, type DeliveryMetrics } from './delivery-metrics.ts';
import { LastTriggered } from './last-triggered.ts';
import { createOpenSecrets } from './open-secrets.ts';
import { createProcessFailureLog } from './process-failure-log.ts';
import { releaseDelivery, skipDelivery } from './release-delivery.ts';
import { ResultWriter } from './result-writer.ts';

/** Interval of the sweep, which finds what notifications and alarms missed. */
const sweepMs = 1_000;

/** Time that the first freed slot waits for further slots, so that one claim fills all of them. */
const gatherMs = 4;

type Services = Runtime & { readonly outbound: Pick<OutboundHttp, 'send'> };

/**
 * Dispatcher of deliveries (specification section 6.3, decision 0017). A round claims due deliveries for the free
 * slots. Attempts run outside of transactions, and their results are written in batches. A round begins when new
 * deliveries are notified, an attempt becomes due or slots become free, and once a second. Several processes claim
 * different deliveries; during a restore hold none claims any. If a process dies, its deliveries are attempted again
 * once their leases have ended.
 *
 * After `stop` was called, no attempt begins. Attempts in progress have 10 s. Then they are aborted, and another
 * process makes them again. Each result is written.
 */
export class Dispatcher {
  readonly #services: Services;
  readonly #loop: Loop;
  readonly #lastTriggered: LastTriggered;
  readonly #lastTriggeredLoop: Loop;
  readonly #writer: ResultWriter;
  readonly #metrics: DeliveryMetrics;
  readonly #logProcessFailure: ReturnType<typeof createProcessFailureLog>;
  readonly #attemptServices: AttemptServices;
  readonly #attempts = new Set<Promise<void>>();
  /** The number of attempts in progress, by team. */
  readonly #inFlight = new Map<TeamId, number>();
  readonly #abort = new AbortController();
  /** Slots that became free since the last round was requested. */
  #freedSlots = 0;
  #gathering: NodeJS.Timeout | undefined;
  #isStopping = false;
  /** The last webhook that the walk has covered; firstWebhookId at its beginning. */
  #after = firstWebhookId;
  #cancelAlarm = () => {};

  constructor(services: Services) {
    this.#services = services;
    const { logger } = services;
    this.#attemptServices = { ...services, openSecrets: createOpenSecrets(services.secrets) };
    this.#lastTriggered = new LastTriggered(services);
    this.#metrics = createDeliveryMetrics(services, () => this.#attempts.size);
    this.#logProcessFailure = createProcessFailureLog(services);
    this.#writer = new ResultWriter(services, { onDisabled: (webhooks) => this.#metrics.disabled(webhooks) });
    this.#loop = new Loop({
      name: 'make deliveries',
      intervalMs: sweepMs,
      logger,
      run: () => this.#fillSlots(),
    });
    this.#lastTriggeredLoop = new Loop({
      name: 'write when webhooks were triggered',
      intervalMs: sweepMs,
      logger,
      run: () => this.#lastTriggered.flush(),
    });
  }

  get loops(): readonly Loop[] {
    return [this.#loop, this.#lastTriggeredLoop];
  }

  start(): void {
    this.#loop.start();
    this.#lastTriggeredLoop.start();
  }

  /** Requests a round, because deliveries may be due. */
  notify(): void {
    this.#loop.notify();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#cancelAlarm();
    clearTimeout(this.#gathering);
    await this.#loop.stop();
    const cancel = this.#services.clock.after(dispatcherStopMs, () => this.#abort.abort());
    await Promise.all(this.#attempts);
    cancel();
    await this.#lastTriggeredLoop.stop();
    await this.#lastTriggeredLoop.runOnce();
  }

  /**
   * Claims due deliveries until no slot is free, or until the walk finds no more. A claim covers a page of webhooks, in
   * the order of their ids, and the next one continues after it. A round that ends without a free slot stores the
   * position, so the next round continues there. At the end, an alarm is set for the next attempt that becomes due.
   */
  async #fillSlots(): Promise<void> {
    if (this.#services.restoreHold.isHeld) return;
    let alarmAt: Date | undefined;
    // A walk that begins in the middle skips the first webhooks. A claim that fills all free slots may leave due rows
    // of its webhooks. In both cases another walk follows, from the first webhook on.
    let needsAnotherWalk = this.#after !== firstWebhookId;
    while (!this.#isStopping) {
      const free = Math.min(claimBatchMax, processSlots - this.#attempts.size);
      if (free <= 0) break;
      const page = await this.#claim(free);
      for (const claimed of page.deliveries) this.#begin(claimed);
      if (page.nextDueAt && (!alarmAt || page.nextDueAt < alarmAt)) alarmAt = page.nextDueAt;
      if (page.deliveries.length === free) needsAnotherWalk = true;
      this.#after = page.walkedTo ?? firstWebhookId;
      const isWalkOver = page.walkedTo === undefined;
      if (isWalkOver && !needsAnotherWalk) break;
      if (isWalkOver) needsAnotherWalk = false;
    }
    this.#setAlarm(alarmAt);
  }

  #claim(free: number) {
    const { database, clock, config } = this.#services;
    const now = clock.now();
    return claimDeliveries(database.hot, {
      now,
      leasedUntil: clock.in(config.webhookTimeoutMs + leaseMarginMs, now),
      free,
      inFlight: this.#inFlight,
      after: this.#after,
    });
  }

  #setAlarm(at: Date | undefined): void {
    this.#cancelAlarm();
    const { clock } = this.#services;
    if (at) this.#cancelAlarm = clock.after(at.getTime() - clock.nowMs(), () => this.notify());
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
    this.notify();
  }

  /** Never rejects: a delivery whose result could not be written is attempted again after its lease. */
  async #attempt(claimed: ClaimedDelivery): Promise<void> {
    const { database, clock, config, logger } = this.#services;
    try {
      const { body } = claimed;
      // If this process was delayed since the claim, its data may be stale, and another process may soon claim the
      // delivery.
      const isLeaseShort = claimed.leased_until < clock.in(config.webhookTimeoutMs);
      if (this.#isStopping || isLeaseShort) return await releaseDelivery(database.pool, claimed);
      if (body === null) return await skipDelivery(database.pool, claimed, clock.now());
      const result = await attemptDelivery(this.#attemptServices, claimed, body, this.#abort.signal);
      this.#lastTriggered.record(claimed.webhook_id, result.startedAt);
      this.#metrics.attempted(result);
      this.#logProcessFailure(result);
      await this.#writer.write(result);
    } catch (error) {
      logger.error(
        { err: error, delivery: publicId('dlv', claimed.delivery_id) },
        'an attempt failed inside the server; it is repeated when the lease of its delivery ends',
      );
    }
  }
}
