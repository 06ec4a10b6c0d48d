import type { PacingMode } from '#contract/pacing.ts';
import { phoneQueueChannel } from '#server/database/channels.ts';
import type { HookEvents } from '#server/database/hooks.ts';
import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { firstIdAt, type MessageId, type NumberId, type TeamId } from '#server/platform/ids.ts';
import { lockUsage } from '#server/usage/usage.ts';
import { failQueued, type UnsentCode } from './fail-queued.ts';
import { resolveUnconfirmed } from './hand-out-leases.ts';
import type { InFlightRow } from './message-store.ts';

/*
 * The sweeps of the queue, every few seconds: they fail messages that expired or may not be sent, and resolve hand-outs
 * whose lease has ended.
 */

export interface QueuedRow {
  readonly team_id: TeamId;
  readonly message_id: MessageId;
}

/** Rows that a round takes at most; the rest waits for the next round. */
export const roundMax = 500;

/** How long a send or a sweep that began before its number was deleted may still run. */
const orphanSlackMs = 3_600_000;

/** Maximum number of rounds in one sweep. */
const roundsMax = 50;

/**
 * SQL condition: a queued message whose wait began before `since` expires. The wait begins at the message's ready_at,
 * if it has one. A message does not expire before its ready_at, or under a hold, except one for an approval. Nor does
 * it expire while only pacing holds it back: the number is active and paced, and its phone polled recently.
 */
export function sqlMayExpire(since: string, pacing: string): string {
  return `greatest(q.queued_at, q.ready_at) < ${since} AND (q.hold IS NULL AND q.ready_at IS NULL OR q.hold = 'approval') AND (q.waits_for_media OR q.number_id NOT IN (
       SELECT n.id FROM device_sessions s JOIN numbers n ON n.id = s.number_id
       WHERE s.last_seen_at > ${since} AND n.status = 'active' AND n.deleted_at IS NULL
         AND coalesce(n.pacing ->> 'mode', ${pacing}::text) <> 'off'))`;
}

/** The rows that a round takes; rows of the teams in `without` are left out. */
interface Round {
  readonly limit: number;
  readonly without: readonly TeamId[];
}

const expired = query<Round & { firstId: string; since: Date; pacing: PacingMode }, QueuedRow>(
  'messages.expired',
  // Reads team by team along the queue's key. The subquery runs only if a message is old enough, and then once.
  `SELECT q.team_id, q.message_id FROM teams t
   CROSS JOIN LATERAL (
     SELECT q.team_id, q.message_id FROM send_queue q
     WHERE q.team_id = t.id AND q.message_id < :firstId AND ${sqlMayExpire(':since', ':pacing')}
     ORDER BY q.message_id LIMIT :limit) q
   WHERE t.id <> ALL(:without::uuid[]) LIMIT :limit`,
);
const orphaned = query<Round & { since: Date }, QueuedRow>(
  'messages.orphaned',
  // Reads number by number, because a join would read the whole queue every second.
  `SELECT q.team_id, q.message_id FROM numbers n
   CROSS JOIN LATERAL (SELECT team_id, message_id FROM send_queue WHERE number_id = n.id LIMIT :limit) q
   WHERE n.deleted_at > :since AND n.team_id <> ALL(:without::uuid[]) LIMIT :limit`,
);
const ofNumber = transactionQuery<{ numberId: NumberId; limit: number }, QueuedRow>(
  'messages.queued-of-number',
  'SELECT team_id, message_id FROM send_queue WHERE number_id = :numberId ORDER BY is_ready, seq LIMIT :limit',
);
const toContact = transactionQuery<{ teamId: TeamId; contact: string; limit: number }, QueuedRow>(
  'messages.queued-to-contact',
  `SELECT q.team_id, q.message_id FROM numbers n
   CROSS JOIN LATERAL (SELECT team_id, message_id FROM send_queue WHERE number_id = n.id AND to_handle = :contact LIMIT :limit) q
   WHERE n.team_id = :teamId LIMIT :limit`,
);
const optedOut = query<Round & { since: Date }, QueuedRow>(
  'messages.queued-to-opted-out',
  // Reads opt-out by opt-out, and number by number, the messages queued for the contact.
  `SELECT q.team_id, q.message_id FROM opt_outs o JOIN numbers n ON n.team_id = o.team_id
   CROSS JOIN LATERAL (SELECT team_id, message_id FROM send_queue WHERE number_id = n.id AND to_handle = o.contact LIMIT :limit) q
   WHERE o.opted_out_at > :since AND o.opted_in_at IS NULL AND o.team_id <> ALL(:without::uuid[]) LIMIT :limit`,
);
const overdue = query<{ now: Date; limit: number }, InFlightRow>(
  'messages.overdue',
  `SELECT number_id, team_id, message_id, hand_out, seq FROM in_flight WHERE leased_until <= :now ORDER BY leased_until LIMIT :limit`,
);
/**
 * Fails messages that waited longer than QUEUE_EXPIRY_HOURS (specification section 3.2), even if a person paused their
 * number. A message that only pacing holds back expires only if its phone was silent for that long.
 */
export async function failExpired(services: Runtime): Promise<number> {
  const { clock, config, database } = services;
  const since = clock.in(-config.queueExpiryMs);
  const firstId = firstIdAt(since.getTime());
  return failInRounds(services, 'expired', (without) =>
    expired.rows(database.pool, { firstId, since, pacing: config.pacing, without, limit: roundMax }),
  );
}

/**
 * Fails messages that the deletion of their number left: those accepted during the deletion, and the rest of a long
 * queue. Deletions longer ago than the expiry are not examined, because no message waits longer.
 */
export async function failOrphaned(services: Runtime): Promise<number> {
  const since = services.clock.in(-returnedMessagesMs(services));
  return failInRounds(services, 'number_removed', (without) =>
    orphaned.rows(services.database.pool, { since, without, limit: roundMax }),
  );
}

/**
 * Fails messages to contacts that opted out in the last `windowMs`; until then no poll can claim them. These messages
 * were accepted during the opt-out, returned from a phone, or were too many for the opt-out's transaction.
 */
export async function failOptedOut(services: Runtime, windowMs: number): Promise<number> {
  const since = services.clock.in(-windowMs);
  return failInRounds(services, 'opted_out', (without) =>
    optedOut.rows(services.database.pool, { since, without, limit: roundMax }),
  );
}

/**
 * How long after an opt-out or a deletion a message may still return to the queue. It equals the longest time that a
 * message waits.
 */
export function returnedMessagesMs({ config }: Runtime): number {
  return config.queueExpiryMs + orphanSlackMs;
}

/**
 * Runs short rounds, so that no other transaction waits long for the locks of a round.
 * @returns the number of rows of all rounds
 */
export async function inRounds(round: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let rounds = 0; rounds < roundsMax; rounds += 1) {
    const taken = await round();
    total += taken;
    if (taken < roundMax) break;
  }
  return total;
}

/**
 * Fails the rows that `find` returns, round by round and team by team. A team whose messages can't be failed waits
 * until the next sweep, and does not delay the others.
 * @returns the number of failed messages
 */
export async function failInRounds(
  services: Runtime,
  code: UnsentCode,
  find: (without: readonly TeamId[]) => Promise<QueuedRow[]>,
): Promise<number> {
  const passedOver: TeamId[] = [];
  let failed = 0;
  for (let rounds = 0; rounds < roundsMax; rounds += 1) {
    const rows = await find(passedOver);
    for (const [teamId, messages] of Map.groupBy(rows, (row) => row.team_id)) {
      try {
        failed += await failOfTeam(services, teamId, idsOf(messages), code);
      } catch (error) {
        services.logger.error({ err: error, code }, 'failing the queued messages of a team failed');
        passedOver.push(teamId);
      }
    }
    if (rows.length < roundMax) break;
  }
  return failed;
}

const idsOf = (rows: readonly QueuedRow[]) => rows.map((row) => row.message_id);

/** Fails queued messages of a team in a transaction of its own. @returns the number of failed messages */
export function failOfTeam(
  services: Runtime,
  teamId: TeamId,
  messageIds: readonly MessageId[],
  code: UnsentCode,
): Promise<number> {
  return services.database.transaction(async (trx) => {
    await lockUsage(trx, { teamIds: [teamId] });
    return failQueued(trx, services, teamId, messageIds, code);
  });
}

/**
 * Fails the messages of a deleted number, in the transaction of the deletion. The sweep fails the rest of a long queue,
 * because the team's sends wait for this transaction.
 */
export async function failMessagesOfDeletedNumber(
  trx: Transaction,
  { teamId, numberId }: HookEvents['numberRemoved'],
  services: Runtime,
): Promise<void> {
  const rows = await ofNumber.rows(trx, { numberId, limit: roundMax });
  await failQueued(trx, services, teamId, idsOf(rows), 'number_removed');
}

/**
 * Fails the messages that wait for a contact, in the transaction of its opt-out, which has locked the team's usage. The
 * sweep fails the rest of a long queue, because the team's sends wait for this transaction.
 */
export async function failMessagesToContact(
  trx: Transaction,
  { teamId, contact }: HookEvents['optedOut'],
  services: Runtime,
): Promise<void> {
  const rows = await toContact.rows(trx, { teamId, contact, limit: roundMax });
  if (rows.length > 0) await failQueued(trx, services, teamId, idsOf(rows), 'opted_out');
}

/** Resolves hand-outs whose lease has ended, and wakes the polls of their numbers. */
export async function resolveOverdue(services: Runtime): Promise<number> {
  const rows = await overdue.rows(services.database.pool, { now: services.clock.now(), limit: roundMax });
  const freed: NumberId[] = [];
  for (const flight of rows) {
    try {
      if (await resolveUnconfirmed(services, flight)) freed.push(flight.number_id);
    } catch (error) {
      // A failure does not delay the other hand-outs; the next round tries the failed one again.
      services.logger.error({ err: error }, 'resolving an unconfirmed hand-out failed');
    }
  }
  if (freed.length > 0) services.database.notify(phoneQueueChannel, freed);
  return freed.length;
}

export async function hasOverdue({ database, clock }: Runtime): Promise<boolean> {
  return overdue.hasRow(database.pool, { now: clock.now(), limit: 1 });
}
