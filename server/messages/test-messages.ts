import type { PacingMode } from '#contract/pacing.ts';
import { testFailures, testLine } from '#contract/test-line.ts';
import { phoneQueueChannel } from '#server/database/channels.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Principal } from '#server/http/route.ts';
import { invalid } from '#server/platform/app-error.ts';
import { firstIdAt, type MessageId, type NumberId, type TeamId } from '#server/platform/ids.ts';
import { parseTimestamp } from '#server/platform/time/calendar.ts';
import { resolveUnconfirmed } from './hand-out-leases.ts';
import { failInRounds, failOfTeam, type QueuedRow, roundMax, sqlMayExpire } from './sweep-messages.ts';

const expiring = query<{
  teamId: TeamId;
  messageId: MessageId;
  sinceId: string;
  since: Date;
  pacing: PacingMode;
}>(
  'messages.test-expiring',
  `SELECT FROM send_queue q
   WHERE q.team_id = :teamId AND q.message_id = :messageId AND q.message_id < :sinceId AND ${sqlMayExpire(':since', ':pacing')}`,
);
const unconfirmed = query<
  { teamId: TeamId; messageId: MessageId; at: Date },
  { number_id: NumberId; hand_out: number }
>(
  'messages.test-unconfirmed',
  'SELECT number_id, hand_out FROM in_flight WHERE team_id = :teamId AND message_id = :messageId AND leased_until <= :at',
);

/**
 * Does to a test message what the sweeps would have done until the time of the header `x-test-clock`
 * (docs/test-keys.md). The message expires, or its hand-out counts as unconfirmed. Nothing else changes.
 * @throws AppError 400, param x-test-clock, for a live key, and for a header that is no timestamp
 */
export async function advanceTestMessage(
  services: Runtime,
  { teamId, isTest }: Principal,
  messageId: MessageId,
  header: string | string[] | undefined,
): Promise<void> {
  if (header === undefined) return;
  const at = parseTimestamp(String(header));
  if (!at)
    throw invalid(
      'x-test-clock',
      'x-test-clock must be a timestamp with a zone, such as 2027-01-31T12:00:00Z.',
    );
  if (!isTest)
    throw invalid('x-test-clock', 'x-test-clock works with a test key (own_test_…) only. Leave it out.');
  const { database, config, clock } = services;
  // The sweeps have done already whatever was due in the past.
  if (at <= clock.now()) return;
  const since = new Date(at.getTime() - config.queueExpiryMs);
  const sinceId = firstIdAt(since.getTime());
  if (await expiring.hasRow(database.pool, { teamId, messageId, sinceId, since, pacing: config.pacing })) {
    await failOfTeam(services, teamId, [messageId], 'expired');
  }
  const flight = await unconfirmed.row(database.pool, { teamId, messageId, at });
  if (!flight) return;
  await resolveUnconfirmed(services, { team_id: teamId, message_id: messageId, ...flight });
  database.notify(phoneQueueChannel, [flight.number_id]);
}

const waiting = query<{ digits: readonly string[]; limit: number; without: readonly TeamId[] }, QueuedRow>(
  'messages.waiting-test-failures',
  // Finds the test lines by the index of verified phone numbers, and reads the queue of each.
  `SELECT q.team_id, q.message_id FROM numbers n
   CROSS JOIN LATERAL (
     SELECT q.team_id, q.message_id FROM send_queue q WHERE q.number_id = n.id AND right(q.to_handle, 2) = ANY(:digits) AND q.is_ready LIMIT :limit) q
   WHERE n.phone_number = '${testLine}' AND n.verified_at IS NOT NULL AND n.deleted_at IS NULL
     AND n.team_id <> ALL(:without::uuid[]) LIMIT :limit`,
);

/** Fails test messages to recipients whose messages fail while they wait (docs/test-keys.md). */
export async function failTestMessages(services: Runtime): Promise<void> {
  const { pool } = services.database;
  if (!(await waiting.hasRow(pool, { digits: Object.keys(testFailures), limit: 1, without: [] }))) return;
  for (const [digits, code] of Object.entries(testFailures)) {
    await failInRounds(services, code, (without) =>
      waiting.rows(pool, { digits: [digits], limit: roundMax, without }),
    );
  }
}
