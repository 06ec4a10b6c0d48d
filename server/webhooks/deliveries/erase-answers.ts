import {
  type Queryable,
  statement,
  type Transaction,
  transactionStatement,
} from '#server/database/statement.ts';
import { sqlDeliveryIdRange } from '#server/events/fan-out.ts';
import type { AttemptId, DeliveryId, EventId, TeamId } from '#server/platform/ids/ids.ts';

/** Most rows of one batch, which takes some 50 ms. */
const batchMax = { events: 100, deliveries: 500, answers: 1_000 } as const;

// Records events for which the receivers' answers have to be erased. An event without a delivery has no answers, and is
// left out. A fan-out may write deliveries of the unerased event before the erasure commits, so its event is recorded.
const note = transactionStatement<[TeamId, readonly EventId[]]>(
  'webhooks.note-erased-events',
  `INSERT INTO erased_events (team_id, event_id)
   SELECT $1, i.event_id FROM unnest($2::uuid[]) AS i (event_id)
   WHERE EXISTS (
     SELECT FROM deliveries d WHERE d.team_id = $1 AND ${sqlDeliveryIdRange('d.id', 'i.event_id')} OFFSET 0
   ) OR EXISTS (SELECT FROM fan_outs f WHERE f.team_id = $1 AND f.event_id = i.event_id OFFSET 0)
   ON CONFLICT (team_id, event_id) DO NOTHING`,
);
const listTeams = statement<[], { readonly team_id: TeamId }>(
  'webhooks.teams-with-erased-events',
  'SELECT DISTINCT team_id FROM erased_events',
);
const lockEvents = transactionStatement<[TeamId, number], { readonly event_id: EventId }>(
  'webhooks.lock-erased-events',
  'SELECT event_id FROM erased_events WHERE team_id = $1 ORDER BY team_id, event_id LIMIT $2 FOR UPDATE',
);
const forget = transactionStatement<[TeamId, EventId[]]>(
  'webhooks.forget-erased-events',
  'DELETE FROM erased_events WHERE team_id = $1 AND event_id = ANY ($2::uuid[])',
);

// Finds deliveries of the events that are not marked as erased, so that attempts may still store answers. It reads
// along the primary key.
const findOpen = transactionStatement<[TeamId, EventId[], number], { readonly id: DeliveryId }>(
  'deliveries.find-of-erased-events',
  `SELECT d.id FROM unnest($2::uuid[]) AS i (event_id) CROSS JOIN LATERAL (
     SELECT d.id FROM deliveries d
     WHERE d.team_id = $1 AND ${sqlDeliveryIdRange('d.id', 'i.event_id')} AND NOT d.is_erased
     ORDER BY d.team_id, d.id LIMIT $3
   ) d LIMIT $3`,
);
// A transaction that writes results has locked its deliveries. They are skipped, and the next batch handles them.
const lockOpen = transactionStatement<[TeamId, DeliveryId[]], { readonly id: DeliveryId }>(
  'deliveries.lock-of-erased-events',
  `SELECT d.id FROM deliveries d WHERE d.team_id = $1 AND d.id = ANY ($2::uuid[]) AND NOT d.is_erased
   FOR NO KEY UPDATE SKIP LOCKED`,
);
// The range of ids is an index condition: a plan that was made while the table was empty reads no other rows.
const mark = transactionStatement<[TeamId, DeliveryId[], DeliveryId | undefined, DeliveryId | undefined]>(
  'deliveries.mark-erased',
  `UPDATE deliveries d SET is_erased = true FROM unnest($2::uuid[]) AS i (id)
   WHERE d.team_id = $1 AND d.id = i.id AND d.id BETWEEN $3 AND $4`,
  { changes: 'delivery', team: '$1' },
);
const list = transactionStatement<
  [TeamId, DeliveryId[], number],
  { readonly delivery_id: DeliveryId; readonly id: AttemptId }
>(
  'attempts.list-answers',
  `SELECT i.delivery_id, a.id FROM unnest($2::uuid[]) WITH ORDINALITY AS i (delivery_id, n)
   CROSS JOIN LATERAL (
     SELECT a.id FROM attempts a WHERE a.team_id = $1 AND a.delivery_id = i.delivery_id AND a.response_body IS NOT NULL
     ORDER BY a.team_id, a.delivery_id, a.id LIMIT $3
   ) a LIMIT $3`,
);
const erase = transactionStatement<
  [TeamId, DeliveryId[], AttemptId[], DeliveryId | undefined, DeliveryId | undefined]
>(
  'attempts.erase-answers',
  `UPDATE attempts a SET response_body = NULL, response_truncated = false
   FROM unnest($2::uuid[], $3::uuid[]) AS i (delivery_id, id)
   WHERE a.team_id = $1 AND a.delivery_id = i.delivery_id AND a.id = i.id AND a.delivery_id BETWEEN $4 AND $5`,
  { changes: 'delivery', team: '$1' },
);

/**
 * Notes the events that this transaction erases, so that `eraseAnswers` erases their answers afterwards, even after a
 * kill.
 */
export async function noteErasedEvents(
  trx: Transaction,
  teamId: TeamId,
  eventIds: readonly EventId[],
): Promise<void> {
  if (eventIds.length > 0) await note.run(trx, teamId, eventIds);
}

/** Lists the teams with events whose answers are still to be erased. */
export async function listTeamsWithErasedEvents(db: Queryable): Promise<TeamId[]> {
  return (await listTeams.rows(db)).map((row) => row.team_id);
}

/**
 * Erases a batch of receivers' answers to erased events, because an answer may quote the event. The attempts themselves
 * stay. Each delivery is marked under its lock, and stores no answer from then on: an attempt in progress may have sent
 * the unerased event.
 * @returns true if more answers are left
 */
export async function eraseAnswers(trx: Transaction, teamId: TeamId): Promise<boolean> {
  const events = (await lockEvents.rows(trx, teamId, batchMax.events)).map((row) => row.event_id);
  if (events.length === 0) return false;
  const open = (await findOpen.rows(trx, teamId, events, batchMax.deliveries)).map((row) => row.id);
  const locked = (await lockOpen.rows(trx, teamId, open)).map((row) => row.id);
  const answers = await list.rows(trx, teamId, locked, batchMax.answers);
  await eraseRows(trx, teamId, answers);
  // The last delivery of a full list may have more answers, so the next batch handles it again.
  const last = answers.length === batchMax.answers ? answers.at(-1)?.delivery_id : undefined;
  const done = last === undefined ? locked : locked.slice(0, locked.indexOf(last));
  const sorted = done.toSorted();
  if (done.length > 0) await mark.run(trx, teamId, done, sorted[0], sorted.at(-1));
  if (await findOpen.row(trx, teamId, events, 1)) return true;
  await forget.run(trx, teamId, events);
  return events.length === batchMax.events;
}

async function eraseRows(
  trx: Transaction,
  teamId: TeamId,
  rows: readonly { readonly delivery_id: DeliveryId; readonly id: AttemptId }[],
): Promise<void> {
  if (rows.length === 0) return;
  const deliveries = rows.map((row) => row.delivery_id);
  const sorted = deliveries.toSorted();
  const ids = rows.map((row) => row.id);
  await erase.run(trx, teamId, deliveries, ids, sorted[0], sorted.at(-1));
}
