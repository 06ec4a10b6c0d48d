import { forgetExpired } from '#server/accounts/forget-expired.ts';
import type { KeyUses } from '#server/api-keys/key-uses.ts';
import { forgetAudit } from '#server/audit/forget-audit.ts';
import type { Duty } from '#server/config.ts';
import { syncClock } from '#server/database/clock-sync.ts';
import { ensurePartitions } from '#server/database/partitions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { WaitingPolls } from '#server/device-protocol/waiting-polls.ts';
import { forgetMails } from '#server/mail/mail-loop.ts';
import { numbersWithMessages } from '#server/messages/claim-message.ts';
import { failExpired, failOrphaned, forgetOldKeys, settleOverdue } from '#server/messages/sweep-messages.ts';
import { deleteOverduePending } from '#server/numbers/number-store.ts';
import { teamsWithMore } from '#server/outbox/feed-store.ts';
import { publishEvents } from '#server/outbox/publish-events.ts';
import type { WaitingReaders } from '#server/outbox/waiting-readers.ts';
import { Loop } from '#server/platform/loop.ts';
import { forgetInvitations } from '#server/teams/forget-invitations.ts';
import { notifyLimits } from '#server/usage/notify-limits.ts';
import { forgetAttempts } from '#server/webhooks/forget-attempts.ts';
import { sweepDeliveries } from '#server/webhooks/sweep-deliveries.ts';

const second = 1_000;

/**
 * Gives events their places in the feed. A duty of `maintain`: the feed is there whether or not this installation delivers to
 * anybody, and it talks to nothing but the database.
 */
export function createPublisher(services: Runtime): Loop {
  return new Loop({
    name: 'publish events',
    intervalMs: second,
    logger: services.logger,
    run: async () => void (await publishEvents(services)),
  });
}

/** What this process does without being asked, by duty. A sweep stands behind every notification. */
export function createLoops(
  services: Runtime & {
    readonly waiting: WaitingPolls;
    readonly readers: WaitingReaders;
    readonly uses: KeyUses;
  },
): Loop[] {
  const { database, clock, config, logger, waiting, readers, uses } = services;
  const loop = (
    duty: Duty | 'always',
    name: string,
    intervalMs: number,
    run: () => Promise<unknown>,
  ): Loop[] => {
    if (duty !== 'always' && !config.duties.has(duty)) return [];
    return [new Loop({ name, intervalMs, logger, run: async () => void (await run()) })];
  };
  return [
    ...loop('always', 'follow the database clock', 60 * second, () => syncClock(database.pool, clock)),
    ...loop('api', 'wake held polls', second, async () => {
      waiting.forgetOldWakes();
      const numbers = waiting.numbers;
      if (numbers.length > 0) waiting.wake(await numbersWithMessages(database.pool, numbers));
    }),
    ...loop('api', 'wake held readers of events', second, async () => {
      const { places } = readers;
      if (places.length > 0) readers.wake(await teamsWithMore(database.pool, places));
    }),
    ...loop('api', 'write when keys were used', 5 * second, () => uses.write()),
    ...loop('maintain', 'settle overdue hand-outs', second, () => settleOverdue(services)),
    ...loop('maintain', 'fail messages of deleted numbers', second, () => failOrphaned(services)),
    ...loop('maintain', 'expire queued messages', 5 * second, () => failExpired(services)),
    ...loop('maintain', 'delete pending numbers', 60 * second, () =>
      deleteOverduePending(database.pool, clock.now()),
    ),
    ...loop('maintain', 'forget old keys', 600 * second, () => forgetOldKeys(services)),
    ...loop('maintain', 'make partitions', 3_600 * second, () =>
      ensurePartitions(database.pool, clock, logger),
    ),
    ...loop('maintain', 'forget expired sessions and links', 60 * second, () => forgetExpired(services)),
    ...loop('maintain', 'tell teams that near their limit', 30 * second, () => notifyLimits(services)),
    ...loop('maintain', 'forget attempts', 3_600 * second, () => forgetAttempts(services)),
    ...loop('maintain', 'drop months of the audit log', 60 * second, () => forgetAudit(services)),
    ...loop('deliver', 'skip deliveries of webhooks that are off', second, () => sweepDeliveries(services)),
    ...loop('maintain', 'forget mails', 3_600 * second, () => forgetMails(services)),
    ...loop('maintain', 'forget invitations', 3_600 * second, () => forgetInvitations(services)),
  ];
}
