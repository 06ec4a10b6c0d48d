import { purgeExpired } from '#server/accounts/sign-in/purge-expired.ts';
import type { LastUsedTimes } from '#server/api-keys/last-used-times.ts';
import { purgeAudit } from '#server/audit/purge-audit.ts';
import type { ClockSync } from '#server/database/clock-sync.ts';
import { clockCheckMs } from '#server/database/limits.ts';
import { ensurePartitions } from '#server/database/partitions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { PollRegistry } from '#server/device-protocol/poll-registry.ts';
import { purgeSetupLinks } from '#server/devices/purge-setup-links.ts';
import { writeFanOutDeliveries } from '#server/events/fan-out.ts';
import type { FeedPollRegistry } from '#server/events/feed-poll-registry.ts';
import { filterTeamsWithNewEvents } from '#server/events/feed-store.ts';
import { publishEvents } from '#server/events/publish-events.ts';
import { purgeMails } from '#server/mail/mail-worker.ts';
import { purgeAbandonedMedia } from '#server/media/purge-media.ts';
import { filterNumbersWithMessages } from '#server/messages/claim-message.ts';
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
import { warnOfRepeatedTexts } from '#server/messages/warn-of-repeated-texts.ts';
import { deleteOverduePending } from '#server/numbers/number-store.ts';
import { Loop } from '#server/platform/concurrency/loop.ts';
import type { ProcessRole } from '#server/platform/config.ts';
import type { Logger } from '#server/platform/process/logger.ts';
import { sendLockTexts } from '#server/setup/send-lock-texts.ts';
import { purgeInvitations } from '#server/teams/invitations/purge-invitations.ts';
import { notifyUsageLimits } from '#server/usage/notify-usage-limits.ts';
import { purgeAttempts } from '#server/webhooks/deliveries/purge-attempts.ts';
import { sweepDeliveries } from '#server/webhooks/queue/sweep-deliveries.ts';
import { limitFutureTimes } from './clock-step-effects.ts';

const second = 1_000;

/**
 * Publishes events: gives them their positions in the feed. It has the process role `maintain`, because the feed exists
 * without webhooks too and the loop uses only the database.
 */
export function createPublisher(services: Runtime): Loop {
  return new Loop({
    name: 'publish events',
    intervalMs: second,
    logger: services.logger,
    run: async () => void (await publishEvents(services)),
  });
}

/** Writes the deliveries of events for many webhooks. A process role of `deliver`: nothing else waits for them. */
export function createLargeFanOutLoop(services: Runtime): Loop {
  return new Loop({
    name: 'write deliveries of events for many webhooks',
    intervalMs: second,
    logger: services.logger,
    run: () => writeFanOutDeliveries(services),
  });
}

/** Compares the service's time with the database's clock (decision 0020), in every process. */
export function createClockLoop(clockSync: ClockSync, logger: Logger): Loop {
  return new Loop({
    name: 'follow the database clock',
    intervalMs: clockCheckMs,
    logger,
    run: () => clockSync.run(),
  });
}

/**
 * Whether a sweep ends, deletes or drops rows because of the time. One that does waits while the time is uncertain
 * (decision 0020); test/database/expiry-holds.slow.test.ts checks each one's declaration.
 */
type Expiry = 'expires' | 'keeps';

/** A loop, and whether it expires rows. */
export type SweepLoop = Loop & { readonly sweep: string; readonly expiry: Expiry };

/** The background jobs of this process, by process role. A sweep backs up every notification. */
export function createBackgroundJobs(
  services: Runtime & {
    readonly heldPolls: PollRegistry;
    readonly feedPolls: FeedPollRegistry;
    readonly uses: LastUsedTimes;
    readonly sends: SendBatcher;
    readonly clockSync: ClockSync;
  },
): SweepLoop[] {
  const { database, clock, config, logger, heldPolls, feedPolls, uses, clockSync } = services;
  const loop = (
    role: ProcessRole,
    sweep: string,
    intervalMs: number,
    expiry: Expiry,
    run: () => Promise<unknown>,
  ): SweepLoop[] => {
    if (!config.processRoles.has(role)) return [];
    const round = async () => {
      if (expiry === 'keeps' || clockSync.mayExpire()) await run();
    };
    return [Object.assign(new Loop({ name: sweep, intervalMs, logger, run: round }), { sweep, expiry })];
  };
  return [
    ...loop('api', 'wake held polls', second, 'keeps', async () => {
      heldPolls.purgeOldWakes();
      const numbers = heldPolls.numbersWithoutAlarm;
      if (numbers.length > 0) heldPolls.wake(await filterNumbersWithMessages(database.pool, numbers));
    }),
    ...loop('api', 'wake held readers of events', second, 'keeps', async () => {
      const { positions } = feedPolls;
      if (positions.length > 0) feedPolls.wake(await filterTeamsWithNewEvents(database.pool, positions));
    }),
    ...loop('api', 'write when keys were used', 5 * second, 'keeps', () => uses.flush()),
    ...loop('api', 'send texts of lock tests', 5 * second, 'keeps', () => sendLockTexts(services)),
    ...loop('maintain', 'resolve overdue hand-outs', second, 'expires', () => resolveOverdue(services)),
    ...loop('maintain', 'fail messages of deleted numbers', second, 'keeps', () => failOrphaned(services)),
    ...loop('maintain', 'fail messages to contacts that opted out', second, 'keeps', () =>
      failOptedOut(services, 60 * second),
    ),
    ...loop('maintain', 'fail returned messages to contacts that opted out', 60 * second, 'keeps', () =>
      failOptedOut(services, returnedMessagesMs(services)),
    ),
    ...loop('maintain', 'expire queued messages', 5 * second, 'expires', () => failExpired(services)),
    ...loop('maintain', 'delete pending numbers', 60 * second, 'expires', () =>
      deleteOverduePending(database.pool, clock.now()),
    ),
    ...loop('maintain', 'purge old keys', 600 * second, 'expires', () => purgeKeysAndFingerprints(services)),
    ...loop('maintain', 'purge recent hand-outs', 600 * second, 'expires', () =>
      purgeRecentHandOuts(services),
    ),
    ...loop('maintain', 'warn of repeated texts', 60 * second, 'keeps', () => warnOfRepeatedTexts(services)),
    ...loop('maintain', 'make partitions', 3_600 * second, 'keeps', () =>
      ensurePartitions(database.pool, clock, logger),
    ),
    ...loop('maintain', 'purge expired sessions and links', 60 * second, 'expires', () =>
      purgeExpired(services),
    ),
    ...loop('maintain', 'tell teams that near their limit', 30 * second, 'keeps', () =>
      notifyUsageLimits(services),
    ),
    ...loop('maintain', 'purge attempts', 3_600 * second, 'expires', () => purgeAttempts(services)),
    ...loop('maintain', 'purge setup links', 3_600 * second, 'expires', () => purgeSetupLinks(services)),
    ...loop('maintain', 'drop months of the audit log', 60 * second, 'expires', () => purgeAudit(services)),
    ...loop('deliver', 'skip deliveries of webhooks that are off', second, 'keeps', () =>
      sweepDeliveries(services),
    ),
    ...loop('maintain', 'purge abandoned media', 60 * second, 'expires', () => purgeAbandonedMedia(services)),
    ...loop('maintain', 'purge mails', 3_600 * second, 'expires', () => purgeMails(services)),
    ...loop('maintain', 'purge invitations', 3_600 * second, 'expires', () => purgeInvitations(services)),
    ...loop('maintain', 'limit times that lie too far ahead', 60 * second, 'keeps', () =>
      limitFutureTimes(services),
    ),
  ];
}
