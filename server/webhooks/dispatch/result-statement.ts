import { type Queryable, statement } from '#server/database/statement.ts';
import type { WebhookId } from '#server/platform/ids/ids.ts';
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

// hooks: locked FOR KEY SHARE, only to block disabling; another transaction counts failures. classified: if the caller
// does not count failures, results of a webhook with failures are left out, for a caller that counts them. owned: the
// row still has the lease of this attempt. Without the lease (webhook switched off or deleted, or claimed by another
// process later) the attempt is only logged. A success is an exception: the receiver has the event. rescheduled: an
// attempt that a stop aborted is made again with the same number. update_delivery: a failed attempt changes nothing in
// a delivery that succeeded before. insert_attempt: an answer may quote its event, so it is not stored if the event was
// erased. is_erased is read from the locked row, and so is current.
const write = statement<
  [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string[],
    (Buffer<ArrayBufferLike> | undefined)[],
    string,
    WebhookId[],
    boolean,
    Date,
  ],
  { readonly left: number }
>(
  'webhooks.write-results',
  `WITH input AS MATERIALIZED (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::int[], $6::timestamptz[], $7::boolean[],
       $8::uuid[], $9::timestamptz[], $10::int[], $11::text[], $12::smallint[], $13::text[], $14::bytea[], $15::boolean[])
     WITH ORDINALITY AS i (team_id, webhook_id, delivery_id, lease, generation, next_due_at, is_counted,
       attempt_id, started_at, duration_ms, outcome, status_code, url, response_body, response_truncated, n)
   ), hooks AS MATERIALIZED (
     SELECT id, generation, failure_count FROM webhooks WHERE id = ANY ($16::uuid[]) ORDER BY id FOR KEY SHARE
   ), classified AS MATERIALIZED (
     SELECT i.*, coalesce(h.generation = i.generation, false) AS is_of_generation
     FROM input i LEFT JOIN hooks h ON h.id = i.webhook_id
     WHERE $17 OR NOT i.is_counted OR h.id IS NULL OR h.generation <> i.generation OR h.failure_count = 0
   ), finished AS (
     DELETE FROM due_deliveries d USING classified j
     WHERE d.webhook_id = j.webhook_id AND d.delivery_id = j.delivery_id AND d.lease = j.lease AND j.next_due_at IS NULL
     RETURNING j.n
   ), rescheduled AS (
     UPDATE due_deliveries d
     SET lane = CASE j.outcome WHEN 'aborted' THEN d.lane ELSE 'retry' END,
       attempt = CASE j.outcome WHEN 'aborted' THEN d.attempt ELSE d.attempt + 1 END,
       due_at = j.next_due_at, leased_until = NULL, lease = NULL
     FROM classified j
     WHERE d.webhook_id = j.webhook_id AND d.delivery_id = j.delivery_id AND d.lease = j.lease AND j.next_due_at IS NOT NULL
     RETURNING j.n
   ), result AS MATERIALIZED (
     SELECT j.*, o.n IS NOT NULL AS is_owned, j.outcome = 'succeeded' AS succeeded,
       o.n IS NOT NULL AND j.outcome <> 'succeeded' AND j.next_due_at IS NULL AS gives_up
     FROM classified j LEFT JOIN (SELECT n FROM finished UNION ALL SELECT n FROM rescheduled) o ON o.n = j.n
   ), update_delivery AS (
     UPDATE deliveries d SET
       attempt_count = d.attempt_count + 1,
       status = CASE
         WHEN r.succeeded AND (r.is_owned OR ${sqlDeliveryGuard('succeed_late', 'd')}) THEN ${sqlNextDeliveryStatus('succeed')}
         WHEN r.gives_up AND ${sqlDeliveryGuard('give_up', 'd')} THEN ${sqlStatusAfter('give_up', 'd')}
         ELSE d.status END,
       succeeded_at = CASE WHEN r.succeeded THEN coalesce(d.succeeded_at, $18) ELSE d.succeeded_at END,
       finished_at = CASE
         WHEN r.succeeded AND d.status <> 'succeeded' AND (r.is_owned OR d.status <> 'pending') THEN $18
         WHEN r.gives_up AND ${sqlDeliveryGuard('give_up', 'd')} THEN $18
         ELSE d.finished_at END
     FROM result r WHERE d.team_id = r.team_id AND d.id = r.delivery_id
     RETURNING r.n, d.is_erased
   ), insert_attempt AS (
     INSERT INTO attempts (team_id, delivery_id, id, started_at, duration_ms, outcome, status_code, url,
       response_body, response_truncated, is_counted)
     SELECT r.team_id, r.delivery_id, r.attempt_id, r.started_at, r.duration_ms, r.outcome, r.status_code, r.url,
       CASE WHEN d.is_erased THEN NULL ELSE r.response_body END, r.response_truncated AND d.is_erased IS NOT TRUE,
       r.is_counted AND r.is_owned AND r.is_of_generation
     FROM result r LEFT JOIN update_delivery d ON d.n = r.n
   )
   SELECT i.n AS left FROM input i WHERE NOT EXISTS (SELECT FROM classified j WHERE j.n = i.n)`,
  { changes: 'delivery', team: '$1' },
);

/**
 * Writes the results of attempts, all of different deliveries, by one statement: the log, the state of the delivery,
 * and its row in the queue.
 * @param counting `here`: the caller has locked the webhooks and counts their failures; `elsewhere`: nothing is
 * counted, and results that would reset a count are left out
 * @returns the results that were left out
 */
export async function writeResults<Classified extends ClassifiedResult>(
  db: Queryable,
  classified: readonly Classified[],
  { counting, at }: { readonly counting: 'here' | 'elsewhere'; readonly at: Date },
): Promise<Classified[]> {
  // A PostgreSQL array literal of values that need no quotes: pg's own serialisation takes several times as long.
  const plain = (read: (classified: ClassifiedResult) => string | number | boolean | undefined) =>
    `{${classified.map((one) => read(one) ?? 'NULL').join(',')}}`;
  const rows = await write.rows(
    db,
    plain(({ result }) => result.claimed.team_id),
    plain(({ result }) => result.claimed.webhook_id),
    plain(({ result }) => result.claimed.delivery_id),
    plain(({ result }) => result.claimed.lease),
    plain(({ result }) => result.claimed.generation),
    plain(({ nextDueAt }) => nextDueAt?.toISOString()),
    plain(({ isCounted }) => isCounted),
    plain(({ result }) => result.id),
    plain(({ result }) => result.startedAt.toISOString()),
    plain(({ result }) => result.durationMs),
    plain(({ result }) => result.outcome),
    plain(({ result }) => result.statusCode),
    classified.map(({ result }) => result.claimed.url),
    classified.map(({ result }) => result.responseBody),
    plain(({ result }) => result.responseTruncated),
    webhookIdsOfResults(classified),
    counting === 'here',
    at,
  );
  return rows.flatMap(({ left }) => classified[left - 1] ?? []);
}

export function webhookIdsOfResults(classified: readonly ClassifiedResult[]): WebhookId[] {
  return [...new Set(classified.map(({ result }) => result.claimed.webhook_id))];
}
