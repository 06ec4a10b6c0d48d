import { type Queryable, query } from '#server/database/query.ts';
import type { WebhookId } from '#server/platform/ids.ts';
import {
  sqlDeliveryGuard,
  sqlNextDeliveryStatus,
  sqlStatusAfter,
} from '#server/webhooks/queue/delivery-status.ts';
import type { AttemptResult } from './attempt-delivery.ts';

/** A result and its consequences, which apply if the delivery still has the lease of its attempt. */
export interface ClassifiedResult {
  readonly result: AttemptResult;
  /** When the next attempt is due; undefined after the last attempt. */
  readonly nextDueAt: Date | undefined;
  readonly isCounted: boolean;
}

/** The columns of a write that need no quotes in an array literal, and how each is read from a result. */
const plainColumns = {
  teamIds: ({ result }) => result.claimed.team_id,
  webhookIds: ({ result }) => result.claimed.webhook_id,
  deliveryIds: ({ result }) => result.claimed.delivery_id,
  leases: ({ result }) => result.claimed.lease,
  generations: ({ result }) => result.claimed.generation,
  nextDueAt: ({ nextDueAt }) => nextDueAt?.toISOString(),
  isCounted: ({ isCounted }) => isCounted,
  attemptIds: ({ result }) => result.id,
  startedAt: ({ result }) => result.startedAt.toISOString(),
  durationsMs: ({ result }) => result.durationMs,
  outcomes: ({ result }) => result.outcome,
  statusCodes: ({ result }) => result.statusCode,
  responsesTruncated: ({ result }) => result.responseTruncated,
} satisfies Readonly<Record<string, (classified: ClassifiedResult) => string | number | boolean | undefined>>;

interface WriteParams extends Readonly<Record<keyof typeof plainColumns, string>> {
  readonly urls: string[];
  readonly responseBodies: (Buffer | undefined)[];
  readonly webhooksWithoutFailures: WebhookId[];
  readonly at: Date;
}

/**
 * Writes a batch of results. Each one is found by its number n in the batch, from 1.
 *
 * Example: the caller believes that V and W have no failures. Webhook V got a first failure since the claim; W has
 * none. Result 1 is a success of W, and 2 one of V. Result 3, of W, failed in the server's own network: it is not
 * counted, and has a next attempt. Result 4 is a success of W, but another process has got the lease.
 *   2, 3: V and W are locked; 2 is omitted, because it would reset V's count.
 *   4, 5: row 1 leaves the queue, row 3 gets its next due time; row 4 has another lease.    6: 1 and 3 are owned.
 *   7: delivery 1 succeeds, 3 stays pending. 4 stays pending, too, but records its success.
 *   8: attempts 1, 3 and 4 are logged.    9: number 2 is returned, for a transaction that counts.
 */
const write = query<WriteParams, { omitted: number }>(
  'webhooks.write-results',
  `WITH input AS MATERIALIZED (
     -- 1. The results.
     SELECT * FROM unnest(:teamIds::uuid[], :webhookIds::uuid[], :deliveryIds::uuid[], :leases::bigint[], :generations::int[],
       :nextDueAt::timestamptz[], :isCounted::boolean[], :attemptIds::uuid[], :startedAt::timestamptz[], :durationsMs::int[],
       :outcomes::text[], :statusCodes::smallint[], :urls::text[], :responseBodies::bytea[], :responsesTruncated::boolean[])
     WITH ORDINALITY AS i (team_id, webhook_id, delivery_id, lease, generation, next_due_at, is_counted,
       attempt_id, started_at, duration_ms, outcome, status_code, url, response_body, response_truncated, n)
   ), webhooks_locked AS MATERIALIZED (
     -- 2. Lock the webhooks in the order of their ids, so that no other transaction counts a failure or disables one.
     SELECT w.* FROM (SELECT id FROM unnest(:webhooksWithoutFailures::uuid[]) AS u (id) ORDER BY id) i
     CROSS JOIN LATERAL (SELECT id, generation, failure_count FROM webhooks WHERE id = i.id FOR KEY SHARE) w
   ), included AS MATERIALIZED (
     -- 3. Omit counted results of a webhook of step 2 that has failures in this generation.
     SELECT i.*, coalesce(h.generation = i.generation, true) AS is_of_generation
     FROM input i LEFT JOIN webhooks_locked h ON h.id = i.webhook_id
     WHERE NOT i.is_counted OR h.id IS NULL OR h.generation <> i.generation OR h.failure_count = 0
   ), finished AS (
     -- 4. Delete queue rows without a next attempt, if they still have the lease of this attempt.
     DELETE FROM due_deliveries d USING included i
     WHERE d.webhook_id = i.webhook_id AND d.delivery_id = i.delivery_id AND d.lease = i.lease AND i.next_due_at IS NULL
     RETURNING i.n
   ), rescheduled AS (
     -- 5. Schedule the next attempt of all other rows that have the lease. An attempt that a stop aborted is made again
     -- with the same number.
     UPDATE due_deliveries d
     SET lane = CASE i.outcome WHEN 'aborted' THEN d.lane ELSE 'retry' END,
       attempt = CASE i.outcome WHEN 'aborted' THEN d.attempt ELSE d.attempt + 1 END,
       due_at = i.next_due_at, leased_until = NULL, lease = NULL
     FROM included i
     WHERE d.webhook_id = i.webhook_id AND d.delivery_id = i.delivery_id AND d.lease = i.lease AND i.next_due_at IS NOT NULL
     RETURNING i.n
   ), result AS MATERIALIZED (
     -- 6. A result is owned if step 4 or 5 found its lease. Otherwise the delivery was skipped or deleted, or another
     -- process claimed it after the lease. Such a result only logs its attempt, if the delivery is left. But a success
     -- is recorded in the delivery, too, because the receiver has the event.
     SELECT i.*, o.n IS NOT NULL AS is_owned, i.outcome = 'succeeded' AS succeeded,
       o.n IS NOT NULL AND i.outcome <> 'succeeded' AND i.next_due_at IS NULL AS gives_up
     FROM included i LEFT JOIN (SELECT n FROM finished UNION ALL SELECT n FROM rescheduled) o ON o.n = i.n
   ), update_delivery AS (
     -- 7. Update the deliveries. A failed attempt changes nothing in a delivery that succeeded before.
     UPDATE deliveries d SET
       attempt_count = d.attempt_count + 1,
       status = CASE
         WHEN r.succeeded AND (r.is_owned OR ${sqlDeliveryGuard('succeed_late', 'd')}) THEN ${sqlNextDeliveryStatus('succeed')}
         WHEN r.gives_up AND ${sqlDeliveryGuard('give_up', 'd')} THEN ${sqlStatusAfter('give_up', 'd')}
         ELSE d.status END,
       succeeded_at = CASE WHEN r.succeeded THEN coalesce(d.succeeded_at, :at) ELSE d.succeeded_at END,
       finished_at = CASE
         WHEN r.succeeded AND d.status <> 'succeeded' AND (r.is_owned OR d.status <> 'pending') THEN :at
         WHEN r.gives_up AND ${sqlDeliveryGuard('give_up', 'd')} THEN :at
         ELSE d.finished_at END
     FROM result r WHERE d.team_id = r.team_id AND d.id = r.delivery_id
     RETURNING r.n, d.is_erased
   ), insert_attempt AS (
     -- 8. Log the attempts. An answer may quote its event, so no answer to an erased event is stored. is_erased comes from
     -- the row that step 7 locked, so it is of this moment.
     INSERT INTO attempts (team_id, delivery_id, id, started_at, duration_ms, outcome, status_code, url,
       response_body, response_truncated, is_counted)
     SELECT r.team_id, r.delivery_id, r.attempt_id, r.started_at, r.duration_ms, r.outcome, r.status_code, r.url,
       CASE WHEN d.is_erased THEN NULL ELSE r.response_body END, r.response_truncated AND NOT d.is_erased,
       r.is_counted AND r.is_owned AND r.is_of_generation
     FROM result r JOIN update_delivery d ON d.n = r.n
   )
   -- 9. Return the results that step 3 omitted.
   SELECT i.n AS omitted FROM input i WHERE NOT EXISTS (SELECT FROM included x WHERE x.n = i.n)`,
  { changes: 'delivery', team: ':teamIds' },
);

/**
 * Writes the results of attempts, all of different deliveries, by one statement: the log, the state of the delivery,
 * and its row in the queue.
 * @param webhooksWithoutFailures webhooks that had no failures at their claim, all of whose counted results are
 *   successes; for all others the caller has locked the webhook and decided which results count
 * @returns the omitted results: counted ones of a webhook without failures that has one now
 */
export async function writeResults(
  db: Queryable,
  classified: readonly ClassifiedResult[],
  { webhooksWithoutFailures, at }: Pick<WriteParams, 'webhooksWithoutFailures' | 'at'>,
): Promise<ClassifiedResult[]> {
  // Array literals, because pg's own serialisation takes several times as long.
  const plain = Object.fromEntries(
    Object.entries(plainColumns).map(([name, read]) => [
      name,
      `{${classified.map((one) => read(one) ?? 'NULL').join(',')}}`,
    ]),
  ) as Record<keyof typeof plainColumns, string>;
  const rows = await write.rows(db, {
    ...plain,
    urls: classified.map(({ result }) => result.claimed.url),
    responseBodies: classified.map(({ result }) => result.responseBody),
    webhooksWithoutFailures,
    at,
  });
  return rows.flatMap(({ omitted }) => classified[omitted - 1] ?? []);
}

export function webhookIdsOfResults(classified: readonly ClassifiedResult[]): WebhookId[] {
  return [...new Set(classified.map(({ result }) => result.claimed.webhook_id))];
}
