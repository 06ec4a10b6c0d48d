import { query, type Transaction, transactionQuery } from '#server/database/query.ts';
import { sqlDeliveryIdRange } from '#server/events/append-events.ts';
import type { AttemptId, DeliveryId, EventId, TeamId } from '#server/platform/ids.ts';

/** Most rows of one batch, which takes some 50 ms. */
const batchMax = { events: 100, deliveries: 500, answers: 1_000 } as const;

/**
 * Notes the events that this transaction erases, so that `eraseAnswers` erases their answers afterwards, even after a
 * kill. An event without a delivery has no answers, and is left out.
 */
export const noteErasedEvents = transactionQuery<{ teamId: TeamId; eventIds: readonly EventId[] }>(
  'webhooks.note-erased-events',
  `INSERT INTO erased_events (team_id, event_id)
   SELECT :teamId, i.event_id FROM unnest(:eventIds::uuid[]) AS i (event_id)
   WHERE EXISTS (
     SELECT FROM deliveries d WHERE d.team_id = :teamId AND ${sqlDeliveryIdRange('d.id', 'i.event_id')} OFFSET 0
   )
   ON CONFLICT (team_id, event_id) DO NOTHING`,
).run;

/** Lists the teams with events whose answers are still to be erased. */
export const listTeamsWithErasedEvents = query<object, { team_id: TeamId }>(
  'webhooks.teams-with-erased-events',
  'SELECT DISTINCT team_id FROM erased_events',
).rows;

const lockEvents = transactionQuery<{ teamId: TeamId; limit: number }, { event_id: EventId }>(
  'webhooks.lock-erased-events',
  'SELECT event_id FROM erased_events WHERE team_id = :teamId ORDER BY team_id, event_id LIMIT :limit FOR UPDATE',
);
const forget = transactionQuery<{ teamId: TeamId; eventIds: EventId[] }>(
  'webhooks.forget-erased-events',
  'DELETE FROM erased_events WHERE team_id = :teamId AND event_id = ANY (:eventIds::uuid[])',
);

// Finds deliveries of the events that are not marked as erased: attempts may still store answers for them. It reads
// along the primary key.
const findOpen = transactionQuery<{ teamId: TeamId; eventIds: EventId[]; limit: number }, { id: DeliveryId }>(
  'deliveries.find-of-erased-events',
  `SELECT d.id FROM unnest(:eventIds::uuid[]) AS i (event_id) CROSS JOIN LATERAL (
     SELECT d.id FROM deliveries d
     WHERE d.team_id = :teamId AND ${sqlDeliveryIdRange('d.id', 'i.event_id')} AND NOT d.is_erased
     ORDER BY d.team_id, d.id LIMIT :limit
   ) d LIMIT :limit`,
);
// Deliveries that a writer of results has locked are left to the next batch.
const lockOpen = transactionQuery<{ teamId: TeamId; deliveryIds: DeliveryId[] }, { id: DeliveryId }>(
  'deliveries.lock-of-erased-events',
  `SELECT d.id FROM deliveries d WHERE d.team_id = :teamId AND d.id = ANY (:deliveryIds::uuid[]) AND NOT d.is_erased
   FOR NO KEY UPDATE SKIP LOCKED`,
);
/** Deliveries of a team, with the least and the greatest of their ids. */
interface DeliveryRange {
  readonly teamId: TeamId;
  readonly deliveryIds: DeliveryId[];
  readonly first: DeliveryId | null;
  readonly last: DeliveryId | null;
}

// The range of ids is an index condition: a plan that was made while the table was empty reads no other rows.
const mark = transactionQuery<DeliveryRange>(
  'deliveries.mark-erased',
  `UPDATE deliveries d SET is_erased = true FROM unnest(:deliveryIds::uuid[]) AS i (id)
   WHERE d.team_id = :teamId AND d.id = i.id AND d.id BETWEEN :first AND :last`,
  { changes: 'delivery', team: ':teamId' },
);
const listAnswers = transactionQuery<
  { teamId: TeamId; deliveryIds: DeliveryId[]; limit: number },
  { delivery_id: DeliveryId; id: AttemptId }
>(
  'attempts.list-answers',
  `SELECT i.delivery_id, a.id FROM unnest(:deliveryIds::uuid[]) WITH ORDINALITY AS i (delivery_id, n)
   CROSS JOIN LATERAL (
     SELECT a.id FROM attempts a WHERE a.team_id = :teamId AND a.delivery_id = i.delivery_id AND a.response_body IS NOT NULL
     ORDER BY a.team_id, a.delivery_id, a.id LIMIT :limit
   ) a LIMIT :limit`,
);
const erase = transactionQuery<DeliveryRange & { attemptIds: AttemptId[] }>(
  'attempts.erase-answers',
  `UPDATE attempts a SET response_body = NULL, response_truncated = false
   FROM unnest(:deliveryIds::uuid[], :attemptIds::uuid[]) AS i (delivery_id, id)
   WHERE a.team_id = :teamId AND a.delivery_id = i.delivery_id AND a.id = i.id AND a.delivery_id BETWEEN :first AND :last`,
  { changes: 'delivery', team: ':teamId' },
);

/**
 * Erases a batch of receivers' answers to erased events, because an answer may quote the event. The attempts themselves
 * stay. Each delivery is marked under its lock, and stores no answer from then on: an attempt in progress may have sent
 * the unerased event.
 * @returns true if more answers are left
 */
export async function eraseAnswers(trx: Transaction, teamId: TeamId): Promise<boolean> {
  const events = await lockEvents.rows(trx, { teamId, limit: batchMax.events });
  if (events.length === 0) return false;
  const eventIds = events.map((row) => row.event_id);
  const open = await findOpen.rows(trx, { teamId, eventIds, limit: batchMax.deliveries });
  const rows = await lockOpen.rows(trx, { teamId, deliveryIds: open.map((row) => row.id) });
  const locked = rows.map((row) => row.id);
  const answers = await listAnswers.rows(trx, { teamId, deliveryIds: locked, limit: batchMax.answers });
  const attemptIds = answers.map((row) => row.id);
  await erase.run(trx, { teamId, attemptIds, ...withRange(answers.map((row) => row.delivery_id)) });
  // The last delivery of a full list may have more answers, so the next batch handles it again.
  const last = answers.length === batchMax.answers ? answers.at(-1)?.delivery_id : undefined;
  const done = last === undefined ? locked : locked.slice(0, locked.indexOf(last));
  await mark.run(trx, { teamId, ...withRange(done) });
  if (await findOpen.hasRow(trx, { teamId, eventIds, limit: 1 })) return true;
  await forget.run(trx, { teamId, eventIds });
  return events.length === batchMax.events;
}

function withRange(deliveryIds: DeliveryId[]) {
  const sorted = deliveryIds.toSorted();
  return { deliveryIds, first: sorted[0] ?? null, last: sorted.at(-1) ?? null };
}
