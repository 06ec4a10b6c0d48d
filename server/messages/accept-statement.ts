import { fictionalPattern } from '#contract/number.ts';
import { planNames, plans } from '#contract/plans.ts';
import { testLine, unsentRecipientPattern } from '#contract/test-line.ts';
import { query } from '#server/database/query.ts';
import { ownOrigin } from '#server/media/test-picture.ts';
import { sqlIsOptedOut } from '#server/opt-outs/opt-out-store.ts';
import type { KeyId, MemberId, MessageId, TeamId } from '#server/platform/ids.ts';
import { sqlHoldOnJoin } from './message-store.ts';

/** The file of a send. */
export interface SendMedia {
  /** The media_url that the message shows. */
  readonly urlOf: (message: MessageId) => string;
  /** The origin of the URL, or what stands for it; `missingUpload` for a media_id that the team does not have. */
  readonly origin: string;
}

export const missingUpload = 'missing upload';

/** One send, as input of the statement. */
export interface SendRow {
  readonly teamId: TeamId;
  /** The id of the message, if it was made before: a reply claims its conversation with it. */
  readonly messageId?: MessageId | undefined;
  /** The API key or member that sends the message; null for the server itself. */
  readonly sentBy: KeyId | MemberId | null;
  readonly from: string;
  readonly to: string;
  /** The normalized `to`, from `contactOf`. */
  readonly contact: string;
  readonly content: string;
  readonly media: SendMedia | null;
  readonly idempotencyKey: string | null;
  /** SHA-256 of the request's fields; null without an idempotency key. */
  readonly fingerprint: Buffer | null;
}

/**
 * The outcome of one row. `again`: the row runs in a later batch, because another transaction has locked its team or
 * number. The same holds if a concurrent request or an earlier row has its idempotency key, or if quota may become
 * free. `not_stored`: PostgreSQL can't store the row.
 */
export type SendVerdict =
  | 'accepted'
  | 'replayed'
  | 'key_reused'
  | 'from_unregistered'
  | 'from_pending'
  | 'from_paused'
  | 'to_not_fictional'
  | 'opted_out'
  | 'media_missing'
  | 'media_not_in_plan'
  | 'over_limit'
  | 'month_missing'
  | 'not_stored'
  | 'again';

/** One outcome, with all rows of a batch that have it. Most batches have few different outcomes. */
export interface SendOutcomeGroupRow {
  /** Positions of the rows in the batch, from 1. */
  readonly indexes: readonly number[];
  readonly verdict: SendVerdict;
  /** The earlier message with the same idempotency key. */
  readonly known_message_id: MessageId | null;
  readonly number_id: string | null;
  readonly monthly_limit: number;
  /** Messages of the month that were accepted before this batch; for `over_limit`, before the row was refused. */
  readonly used: number;
}

const plansWithoutMedia = planNames
  .filter((plan) => !plans[plan].standard)
  .map((plan) => `'${plan}'`)
  .join(', ');

/**
 * Accepts a batch of sends in one statement (decision 0005). Each row has its own outcome; a batch is never refused as
 * a whole.
 *
 * Locks are taken in the order of every writer: usage rows by team, then numbers by id. The snapshot is a little older than
 * a lock. So values that decide an outcome are read through the lock (PostgreSQL reads a changed row again) or through a
 * unique key. If a number is deleted or a contact opts out in between, sweeps fail the message later.
 *
 * `messages.to_handle` keeps `to` as it was given, for the phone. `send_queue.to_handle` is the contact, so that all
 * spellings of a handle share a queue, an opt-out and a conversation.
 *
 * A send from a simulated number is `free`, whatever the month's limit. Counting and refunding it at once would let the
 * limit refuse it first. A test team would hide it from members, who try Ownline with it.
 *
 * Each column adds about 1 % per step to the cost of a row (decision 0005). So rows name their sender, a team with its
 * key or member, by its position in teamIds and senderIds. Columns that decide nothing are read from the input only once
 * a row is granted, by its index n. An empty column means that every row's value is null.
 *
 * Example: a team has used 98 of its 100 messages of the month. A batch has five of its sends. 1 and 5 have no
 * idempotency key. 2 and 3 repeat one request with the key k. 4 is for a contact that opted out.
 *   2, 3: the team's usage row and its number are locked.
 *   4: send 4 is opted_out, the others are acceptable.    5: 3 repeats the key of 2.
 *   6, 7: 1, 2 and 5 have the ranks 1, 2 and 3; 1 and 2 are granted, because 98 + 2 is the limit.
 *   8, 9: 2 gets its key, so 1 and 2 are accepted.    10 to 14: both are stored, queued and counted.
 *   15: 1 and 2 accepted, 3 again, 4 opted_out, 5 over_limit. In its next batch 3 finds k, and is replayed.
 */
export const acceptStatement = query<
  {
    teamIds: TeamId[];
    senderIds: (KeyId | MemberId | null)[];
    senders: number[];
    messageIds: MessageId[];
    fromHandles: string[];
    toHandles: string[];
    contents: string[];
    idempotencyKeys: (string | null)[];
    fingerprints: (Buffer | null)[];
    mediaUrls: (string | null)[];
    mediaOrigins: (string | null)[];
    contacts: string[];
    /** The hashes as an array literal. */
    contactHashes: string;
    at: Date;
    month: string;
    day: string;
    keysSince: Date;
  },
  SendOutcomeGroupRow
>(
  'messages.accept-sends',
  `WITH input AS MATERIALIZED (
     -- 1. The sends, each with the team of its sender.
     SELECT t.*, (:teamIds::uuid[])[t.sender] AS team_id
     FROM unnest(:senders::int[], :messageIds::uuid[], :fromHandles::text[], :toHandles::text[], :contents::text[], :idempotencyKeys::text[], :fingerprints::bytea[], :mediaUrls::text[], :mediaOrigins::text[], :contacts::text[], :contactHashes::uuid[])
       WITH ORDINALITY AS t (sender, message_id, from_handle, to_handle, content, key, fingerprint, media_url, media_origin, contact, contact_hash, n)
   ), usage AS MATERIALIZED (
     -- 2. Lock the teams' usage of the month.
     SELECT u.team_id, u.accepted, t.plan, t.monthly_message_limit AS monthly_limit
     FROM usage_months u JOIN teams t ON t.id = u.team_id
     WHERE u.month = :month AND u.team_id IN (SELECT team_id FROM input)
     ORDER BY u.team_id FOR NO KEY UPDATE OF u SKIP LOCKED
   ), number AS MATERIALIZED (
     -- 3. Lock the numbers.
     SELECT nu.team_id, nu.id, nu.phone_number, nu.status, nu.verified_at, nu.is_simulated FROM numbers nu
     WHERE (SELECT count(*) FROM usage) >= 0 -- runs step 2 first
       AND nu.deleted_at IS NULL
       AND (nu.team_id, nu.phone_number) IN (SELECT team_id, from_handle FROM input)
     ORDER BY nu.id FOR SHARE SKIP LOCKED
   ), decided AS MATERIALIZED (
     -- 4. Decide on each send: the first reason to refuse it, or acceptable. A send from a simulated number is free: it counts in no month.
     SELECT i.n, i.team_id, i.key, nu.id AS number_id, k.message_id AS known_message_id, u.monthly_limit, u.accepted AS used,
       CASE
         WHEN k.fingerprint = i.fingerprint THEN 'replayed'
         WHEN k.message_id IS NOT NULL THEN 'key_reused'
         -- SKIP LOCKED left out a row that exists: another transaction has locked it.
         WHEN nu.id IS NULL AND EXISTS (
           SELECT FROM numbers x WHERE x.team_id = i.team_id AND x.phone_number = i.from_handle AND x.deleted_at IS NULL
         ) THEN 'again'
         WHEN nu.id IS NULL THEN 'from_unregistered'
         WHEN nu.verified_at IS NULL THEN 'from_pending'
         WHEN nu.status = 'paused' THEN 'from_paused'
         WHEN nu.is_simulated AND i.contact !~ '${fictionalPattern.source}' THEN 'to_not_fictional'
         WHEN ${sqlIsOptedOut('i.team_id', 'contact_hash', 'i.contact_hash')} THEN 'opted_out'
         WHEN i.media_origin = '${missingUpload}' THEN 'media_missing'
         WHEN u.team_id IS NULL AND EXISTS (SELECT FROM usage_months x WHERE x.team_id = i.team_id AND x.month = :month) THEN 'again'
         WHEN u.team_id IS NULL THEN 'month_missing'
         WHEN i.media_url IS NOT NULL AND i.media_origin <> '${ownOrigin}' AND u.plan IN (${plansWithoutMedia}) THEN 'media_not_in_plan'
         WHEN nu.is_simulated THEN 'free'
         ELSE 'acceptable'
       END AS decision
     FROM input i
     LEFT JOIN LATERAL (
       SELECT message_id, fingerprint FROM idempotency_keys
       WHERE team_id = i.team_id AND key = i.key AND created_at > :keysSince OFFSET 0
     ) k ON true
     LEFT JOIN usage u ON u.team_id = i.team_id
     LEFT JOIN number nu ON nu.team_id = i.team_id AND nu.phone_number = i.from_handle
   ), first_of_key AS (
     -- 5. Of several acceptable or free sends with one idempotency key, let the first continue; the others run again.
     SELECT d.*, CASE
         WHEN d.decision IN ('acceptable', 'free') AND d.key IS NOT NULL
           AND row_number() OVER (PARTITION BY d.team_id, d.key, d.decision IN ('acceptable', 'free') ORDER BY d.n) > 1 THEN 'repeats'
         ELSE d.decision
       END AS verdict
     FROM decided d
   ), ranked AS MATERIALIZED (
     -- 6. Number the acceptable sends of each team.
     SELECT f.*, row_number() OVER (PARTITION BY f.team_id, f.verdict ORDER BY f.n) AS rank FROM first_of_key f
   ), granted AS (
     -- 7. Grant the free sends, and as many of the acceptable ones as the month's limit allows.
     SELECT * FROM ranked WHERE verdict = 'free' OR (verdict = 'acceptable' AND used + rank <= monthly_limit)
   ), new_keys AS (
     -- 8. Store the idempotency keys of granted sends. A live key of another request is skipped; an expired one is replaced.
     INSERT INTO idempotency_keys AS k (team_id, key, message_id, fingerprint, created_at)
     SELECT g.team_id, g.key, i.message_id, i.fingerprint, :at FROM granted g JOIN input i ON i.n = g.n
     WHERE g.key IS NOT NULL ORDER BY g.team_id, g.key
     ON CONFLICT (team_id, key) DO UPDATE
       SET message_id = excluded.message_id, fingerprint = excluded.fingerprint, created_at = excluded.created_at
       WHERE k.created_at <= :keysSince
     RETURNING message_id
   ), accepted AS MATERIALIZED (
     -- 9. Accept the granted sends that have no key, or whose key was stored.
     SELECT i.*, g.number_id, i.from_handle = '${testLine}' AND i.contact ~ '${unsentRecipientPattern.source}' AS is_unsent_test
     FROM granted g JOIN input i ON i.n = g.n
     WHERE g.key IS NULL OR i.message_id IN (SELECT message_id FROM new_keys)
   ), new_messages AS (
     -- 10. Store their messages.
     INSERT INTO messages (team_id, id, number_id, direction, from_handle, to_handle, content, media_url, status, created_at, sent_by)
     SELECT team_id, message_id, number_id, 'outbound', from_handle, to_handle, content, media_url, 'queued', :at, (:senderIds::uuid[])[sender] FROM accepted
   ), new_queued AS (
     -- 11. Queue them. A test message that is to fail in the queue waits for media that never come, so no phone takes it.
     INSERT INTO send_queue (message_id, team_id, number_id, to_handle, queued_at, waits_for_media, hold)
     SELECT message_id, team_id, number_id, contact, :at, media_url IS NOT NULL OR is_unsent_test, ${sqlHoldOnJoin('accepted.team_id')} FROM accepted ORDER BY n
   ), new_fetches AS (
     -- 12. Queue the fetches of their media.
     INSERT INTO media_fetches (team_id, message_id, url, origin, due_at)
     SELECT team_id, message_id, media_url, media_origin, :at FROM accepted WHERE media_url IS NOT NULL AND NOT is_unsent_test
   ), counted_in_month AS (
     -- 13. Count the messages of real numbers in the month.
     UPDATE usage_months u SET accepted = u.accepted + a.messages
     FROM (SELECT team_id, count(*) AS messages FROM accepted WHERE number_id NOT IN (SELECT id FROM number WHERE is_simulated) GROUP BY team_id) a
     WHERE u.team_id = a.team_id AND u.month = :month
   ), counted_in_day AS (
     -- 14. Count the same messages in the day.
     INSERT INTO usage_days AS d (team_id, day, direction, messages)
     SELECT team_id, :day, 'outbound', count(*) FROM accepted WHERE number_id NOT IN (SELECT id FROM number WHERE is_simulated) GROUP BY team_id ORDER BY team_id
     ON CONFLICT (team_id, day, direction) DO UPDATE SET messages = d.messages + excluded.messages
   )
   -- 15. Return the outcomes, each with all sends that have it.
   SELECT array_agg(r.n::int) AS indexes, r.known_message_id, r.number_id, r.monthly_limit,
     CASE WHEN a.n IS NULL THEN greatest(r.used, r.monthly_limit) ELSE r.used END AS used,
     CASE
       WHEN r.verdict = 'repeats' THEN CASE WHEN EXISTS (
         -- If no send with this key was granted, the first one is over the limit, and so are its repeats.
         SELECT FROM granted g WHERE g.team_id = r.team_id AND g.key = r.key
       ) THEN 'again' ELSE 'over_limit' END
       WHEN r.verdict NOT IN ('acceptable', 'free') THEN r.verdict
       WHEN a.n IS NOT NULL THEN 'accepted'
       WHEN r.verdict = 'acceptable' AND r.used + r.rank > r.monthly_limit AND NOT EXISTS (
         -- A granted send may turn out to be a repeat and free its quota: until then this one runs again.
         SELECT FROM granted g LEFT JOIN accepted x ON x.n = g.n WHERE g.team_id = r.team_id AND x.n IS NULL
       ) THEN 'over_limit'
       ELSE 'again'
     END AS verdict
   FROM ranked r LEFT JOIN accepted a ON a.n = r.n
   GROUP BY 2, 3, 4, 5, 6`,
  // The change has no message ids: a batch notifies one change per team, not one per message.
  { changes: 'message', team: ':teamIds', ids: 'created' },
  { changes: 'usage', team: ':teamIds' },
);
