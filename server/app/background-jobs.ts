import { Counter } from 'prom-client';
import { purgeExpired } from '#server/accounts/sign-in/purge-expired.ts';
import type { LastUsedTimes } from '#server/api-keys/last-used-times.ts';
import type { NightlyBackup } from '#server/backups/nightly-backup.ts';
import { analyzeErased } from '#server/database/analyze-erased.ts';
import type { ClockSync } from '#server/database/clock-sync.ts';
import { clockCheckMs } from '#server/database/limits.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { PollRegistry } from '#server/device-protocol/poll-registry.ts';
import { purgeSetupLinks } from '#server/devices/setup-link.ts';
import { continueErasures } from '#server/erasure/run-erasure.ts';
import type { FeedPollRegistry } from '#server/events/feed-poll-registry.ts';
import { filterTeamsWithNewEvents } from '#server/events/feed-store.ts';
import { purgeMails } from '#server/mail/mail-worker.ts';
import { purgeAbandonedMedia } from '#server/media/media-store.ts';
import { findNumbersWithMessages } from '#server/messages/claim-message.ts';
import { releaseDueMessages, releaseHeld } from '#server/messages/held-messages.ts';
import type { SendBatcher } from '#server/messages/send-batcher.ts';
import {
  failExpired,
  failOptedOut,
  failOrphaned,
  purgeKeysAndFingerprints,
  purgeRecentHandOuts,
  resolveOverdue,
  returnedMessagesMs,
} from '#server/messages/sweep-messages.ts';
import { failTestMessages } from '#server/messages/test-messages.ts';
import { pollServiceIntervalMs } from '#server/numbers/limits.ts';
import { deleteOverduePending } from '#server/numbers/number-store.ts';
import { PollService } from '#server/numbers/poll-service.ts';
import { watchNumbers } from '#server/numbers/watch-numbers.ts';
import { HistoryPurge } from '#server/operations/history-purge.ts';
import { limitFutureTimes } from '#server/operations/limit-future-times.ts';
import { jobState, Loop } from '#server/platform/concurrency/loop.ts';
import { wholeLook } from '#server/platform/concurrency/low-water-mark.ts';
import type { ProcessRole } from '#server/platform/config.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { labelledGauges } from '#server/platform/process/metrics.ts';
import { sendLockTexts } from '#server/setup/send-lock-texts.ts';
import { purgeTestRecipients } from '#server/setup/setup-store.ts';
import { purgeInvitations } from '#server/teams/invitations/invitations.ts';
import { notifyUsageLimits } from '#server/usage/notify-usage-limits.ts';
import { sweepDeliveries } from '#server/webhooks/queue/sweep-deliveries.ts';

const second = 1_000;

/** Creates the loop of every process that compares the service's time with the database's clock (decision 0020). */
export function createClockLoop(clockSync: ClockSync, logger: Logger): Loop {
  return new Loop({
    name: 'follow the database clock',
    intervalMs: clockCheckMs,
    logger,
    run: () => clockSync.run(),
  });
}

/** Creates the loop that ends this process's restore hold once a process has resumed the restore (decision 0034). */
export function createRestoreHoldLoop({ database, restoreHold, logger }: Runtime): Loop {
  return new Loop({
    name: 'end the restore hold',
    intervalMs: 5 * second,
    logger,
    run: () => restoreHold.check(database.pool, logger),
  });
}

/**
 * The effect of a sweep on old rows. A sweep that `expires` or `resolves` rows pauses while the time is uncertain
 * (decision 0020). A sweep that `expires` rows also pauses during a restore hold (decision 0034).
 * test/database/expiry-holds.slow.test.ts checks each declaration.
 */
type Expiry = 'expires' | 'resolves' | 'keeps';

/** The loop of a sweep, with its effect on old rows. */
export type SweepLoop = Loop & { readonly sweep: string; readonly expiry: Expiry };

/** Creates the background jobs of this process's roles. Sweeps do the work of notifications that were lost. */
export function createBackgroundJobs(
  services: Runtime & {
    readonly heldPolls: PollRegistry;
    readonly feedPolls: FeedPollRegistry;
    readonly uses: LastUsedTimes;
    readonly sends: SendBatcher;
    readonly clockSync: ClockSync;
    readonly nightlyBackup: NightlyBackup;
  },
): SweepLoop[] {
  const { database, clock, config, logger, restoreHold, heldPolls, feedPolls, uses, clockSync } = services;
  const loop = (
    role: ProcessRole,
    sweep: string,
    intervalMs: number,
    expiry: Expiry,
    run: () => Promise<unknown>,
    shareMax?: number,
  ): SweepLoop[] => {
    if (!config.processRoles.has(role)) return [];
    const round = async () => {
      if (expiry !== 'keeps' && !clockSync.mayExpire()) return;
      if (expiry === 'expires' && restoreHold.isHeld) return;
      return run();
    };
    return [
      Object.assign(new Loop({ name: sweep, intervalMs, shareMax, logger, run: round }), { sweep, expiry }),
    ];
  };
  const historyPurge = new HistoryPurge(services);
  const pollService = new PollService(services);
  return [
    ...loop('api', 'wake held polls', second, 'keeps', async () => {
      const numberIds = heldPolls.numbersWithoutTimer;
      if (numberIds.length === 0) return;
      const waiting = await findNumbersWithMessages(database.pool, { numberIds });
      heldPolls.wakeForMessages(waiting.map((row) => row.number_id));
    }),
    ...loop('api', 'wake held readers of events', second, 'keeps', async () => {
      const { positions } = feedPolls;
      if (positions.length > 0) feedPolls.wake(await filterTeamsWithNewEvents(database.pool, positions));
    }),
    ...loop('api', 'record that polls are served', pollServiceIntervalMs, 'keeps', () =>
      pollService.record(),
    ),
    ...loop('api', 'write when keys were used', 5 * second, 'keeps', () => uses.flush()),
    ...loop('api', 'send texts of lock tests', 5 * second, 'keeps', () => sendLockTexts(services)),
    ...loop('maintain', 'resolve overdue hand-outs', second, 'resolves', () => resolveOverdue(services)),
    ...loop('maintain', 'release messages', second, 'keeps', async () => {
      await releaseDueMessages(services);
      // A send that began before a restore was resumed may still have its hold.
      await releaseHeld(services, 'restore');
    }),
    ...loop('maintain', 'fail messages of deleted numbers', second, 'keeps', () => failOrphaned(services)),
    ...loop('maintain', 'fail messages to contacts that opted out', second, 'keeps', () =>
      failOptedOut(services, 60 * second),
    ),
    ...loop('maintain', 'fail returned messages to contacts that opted out', 60 * second, 'keeps', () =>
      failOptedOut(services, returnedMessagesMs(services)),
    ),
    ...loop('maintain', 'fail messages of test keys', second, 'keeps', () => failTestMessages(services)),
    ...loop('maintain', 'expire queued messages', 5 * second, 'expires', () => failExpired(services)),
    ...loop('maintain', 'delete pending numbers', 60 * second, 'expires', () =>
      deleteOverduePending(database.pool, { at: clock.now() }),
    ),
    ...loop('maintain', 'watch the health of numbers', 10 * second, 'expires', () => watchNumbers(services)),
    ...loop('maintain', 'purge old keys', 600 * second, 'expires', () => purgeKeysAndFingerprints(services)),
    ...loop('maintain', 'purge recent hand-outs', 600 * second, 'expires', () =>
      purgeRecentHandOuts(services),
    ),
    ...(config.backup
      ? loop('maintain', 'back up each night', 60 * second, 'keeps', () => services.nightlyBackup.round())
      : []),
    ...loop('maintain', 'purge expired sessions and links', 60 * second, 'expires', () =>
      purgeExpired(services),
    ),
    ...loop('maintain', 'tell teams that near their limit', 30 * second, 'keeps', () =>
      notifyUsageLimits(services),
    ),
    ...loop('maintain', 'purge setup links', 3_600 * second, 'expires', () => purgeSetupLinks(services)),
    ...loop('maintain', 'purge recipients of test texts', 60 * second, 'keeps', () =>
      purgeTestRecipients(database.pool, { now: clock.now() }),
    ),
    ...loop('maintain', 'erase contacts', 5 * second, 'keeps', () => continueErasures(services)),
    ...loop('maintain', 'analyze tables after an erasure', 60 * second, 'keeps', () =>
      analyzeErased(services),
    ),
    ...loop('maintain', 'purge history', second, 'expires', async () =>
      (await historyPurge.run()) === 'cut' ? 'again' : undefined,
    ),
    ...loop(
      'deliver',
      'skip deliveries of webhooks that are off',
      wholeLook.intervalMs,
      'keeps',
      () => sweepDeliveries(services),
      wholeLook.shareMax,
    ),
    ...loop('maintain', 'purge abandoned media', 60 * second, 'expires', () => purgeAbandonedMedia(services)),
    ...loop('maintain', 'purge mails', 3_600 * second, 'expires', () => purgeMails(services)),
    ...loop('maintain', 'purge invitations', 3_600 * second, 'expires', () => purgeInvitations(services)),
    ...loop('maintain', 'limit times that lie too far ahead', 60 * second, 'keeps', () =>
      limitFutureTimes(services),
    ),
  ];
}

/**
 * Registers the health of this process's background jobs, read for each request of /metrics (specification section
 * 10.4). The label is `name`, because Prometheus adds a label `job` itself.
 */
export function registerJobMetrics({ clock, metrics }: Runtime, jobs: () => readonly Loop[]): void {
  const byName = () => Object.fromEntries(jobs().map((job) => [job.name, job]));
  labelledGauges({ metrics, label: 'name' }, byName, {
    ownline_job_last_success_timestamp_seconds: [
      'When a background job of this process last succeeded, in Unix time; absent before its first success.',
      ({ health: { lastSuccessAtMs: atMs } }) => (atMs === undefined ? undefined : clock.atMs(atMs) / 1_000),
    ],
    ownline_job_last_duration_seconds: [
      'How long the latest finished round of a background job took.',
      ({ health: { lastDurationMs: ms } }) => (ms === undefined ? undefined : ms / 1_000),
    ],
    ownline_job_late: [
      '1 where a background job has not succeeded for three intervals and five minutes more, else 0.',
      ({ health, intervalMs }) => (jobState(health, intervalMs, performance.now()) === 'late' ? 1 : 0),
    ],
  });
  new Counter({
    name: 'ownline_job_failures_total',
    help: 'Rounds of a background job that failed; each is repeated.',
    labelNames: ['name'] as const,
    registers: [metrics],
    collect() {
      this.reset();
      for (const { name, health } of jobs()) this.inc({ name }, health.failures);
    },
  });
}
