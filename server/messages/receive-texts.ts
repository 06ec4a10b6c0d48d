import { phoneQueueChannel } from '#server/database/channels.ts';
import { BatchConflictError, type Skipped, skipped } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { transactionStatement } from '#server/database/statement.ts';
import { effectivePacing, type OwnPacing } from '#server/numbers/pacing-policy.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { DeviceCaller, EndedTokenReason } from '#server/platform/http/route.ts';
import type { MessageId, NumberId } from '#server/platform/ids/ids.ts';
import { dayOf } from '#server/platform/time/calendar.ts';
import { hashInbound, type InboundHashes } from './claim-inbound.ts';
import { sqlNoteActivity } from './conversation-store.ts';
import { isGroupMessage } from './is-group-message.ts';
import { duplicateInboundMs, inboundRunMs } from './limits.ts';
import { type MessageRow, messageColumns, sqlMessageColumns } from './message.ts';
import { appendMessageEvents } from './message-event.ts';
import { normalizeSender } from './normalize-sender.ts';
import { type Inbound, type Received, senderContact } from './receive-message.ts';

/** A text without a file and without a keyword, and the device that received it. */
export interface InboundText {
  readonly device: DeviceCaller;
  readonly inbound: Inbound;
}

/** The outcome of an inbound message: the stored one, or the reason why the device may deliver no more. */
export type TextOutcome =
  | {
      readonly kind: 'received';
      readonly id: MessageId;
      /** Names of the inbound tests that the device has passed before. */
      readonly receivedTests: readonly string[];
      readonly problem?: Received['problem'];
    }
  | { readonly kind: 'ended'; readonly reason: EndedTokenReason };

type ReceivedRow = {
  /** Position of the text in the batch, from 1. */
  readonly n: number;
} & (
  | (MessageRow & {
      readonly ended: null;
      readonly received_tests: readonly string[];
      readonly pacing: OwnPacing | null;
      /** Ids and fingerprints that the whole batch claimed. */
      readonly claims: number;
    })
  | { readonly ended: EndedTokenReason; readonly team_id: null; readonly id: null }
);

/**
 * Stores new texts (specification section 11.5). Repeats are left to `receiveMessage`, and so are texts whose number or
 * conversation is locked. So are texts to a team with opt-outs that lost their handle in an erasure.
 *
 * Numbers and conversations are locked first. An upsert can't skip a lock. That of a fingerprint may wait for an equal
 * text, and that of the day's count for another text of the team. Each waits for 50 ms at most. Then the batch is rolled
 * back, and its texts run alone.
 */
const receive = transactionStatement<
  [
    tokenHashes: readonly Buffer[],
    numbers: readonly NumberId[],
    messageIds: readonly MessageId[],
    contacts: readonly string[],
    contents: readonly string[],
    isGroup: readonly boolean[],
    givenIds: readonly (Buffer | null)[],
    runs: readonly (Buffer | null)[],
    contentHashes: readonly (Buffer | null)[],
    at: Date,
    runsSince: Date,
    contentsSince: Date,
    day: string,
  ],
  ReceivedRow
>(
  'messages.receive-texts',
  `WITH
   -- 1. The texts, in the order of their numbers.
   input AS MATERIALIZED (
     SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::boolean[], $7::bytea[], $8::bytea[], $9::bytea[])
       WITH ORDINALITY AS t (token_hash, number_id, message_id, contact, content, is_group, given_id, run, content_hash, n)
     ORDER BY number_id, n
   ),
   -- 2. Lock the numbers, and find out which devices may deliver texts.
   device AS MATERIALIZED (
     SELECT i.*, d.team_id, d.received_tests, nu.phone_number, nu.pacing, nu.is_simulated,
       CASE WHEN nu.deleted_at IS NOT NULL THEN 'deleted' WHEN d.ended_at IS NOT NULL THEN 'superseded' END AS ended
     FROM input i
     CROSS JOIN LATERAL (SELECT d.team_id, d.ended_at, d.received_tests FROM devices d WHERE d.token_hash = i.token_hash OFFSET 0) d
     CROSS JOIN LATERAL (
       SELECT nu.phone_number, nu.pacing, nu.is_simulated, nu.deleted_at FROM numbers nu WHERE nu.id = i.number_id FOR KEY SHARE SKIP LOCKED
     ) nu
   ),
   -- 3. Leave out repeats, and teams whose erased opt-outs have to be compared with the sender.
   fresh AS MATERIALIZED (
     SELECT d.* FROM device d
     WHERE d.ended IS NULL AND NOT (SELECT t.has_erased_opt_outs FROM teams t WHERE t.id = d.team_id)
       AND NOT EXISTS (SELECT FROM inbound_ids x WHERE x.number_id = d.number_id AND x.given_id_hash = d.given_id OFFSET 0)
       AND NOT EXISTS (
         SELECT FROM inbound_fingerprints x WHERE x.number_id = d.number_id AND x.fingerprint = d.run AND x.stored_at > $11 OFFSET 0
       )
       AND NOT EXISTS (
         SELECT FROM inbound_fingerprints x
         WHERE x.number_id = d.number_id AND x.fingerprint = d.content_hash AND x.stored_at > $12 OFFSET 0
       )
   ),
   -- 4. Lock the conversations that exist.
   text AS MATERIALIZED (
     SELECT f.* FROM fresh f LEFT JOIN LATERAL (
       SELECT true AS is_locked FROM conversations c
       WHERE c.number_id = f.number_id AND c.contact = f.contact FOR NO KEY UPDATE SKIP LOCKED
     ) c ON true
     WHERE c.is_locked OR NOT EXISTS (SELECT FROM conversations c WHERE c.number_id = f.number_id AND c.contact = f.contact OFFSET 0)
   ),
   -- 5. Claim their ids and fingerprints. The caller compares the number of claims with the number of hashes.
   given AS (
     INSERT INTO inbound_ids (team_id, number_id, given_id_hash, message_id)
     SELECT team_id, number_id, given_id, message_id FROM text WHERE given_id IS NOT NULL ORDER BY number_id, given_id
     ON CONFLICT DO NOTHING RETURNING message_id
   ),
   fingerprinted AS (
     INSERT INTO inbound_fingerprints AS r (team_id, number_id, fingerprint, message_id, stored_at)
     SELECT t.team_id, t.number_id, f.fingerprint, t.message_id, $10 FROM text t
     CROSS JOIN LATERAL (VALUES (t.run), (t.content_hash)) AS f (fingerprint)
     WHERE f.fingerprint IS NOT NULL ORDER BY t.number_id, f.fingerprint
     ON CONFLICT (number_id, fingerprint) DO UPDATE SET message_id = excluded.message_id, stored_at = excluded.stored_at
       WHERE r.stored_at <= $11 OR r.stored_at <= $12 AND r.fingerprint IN (SELECT content_hash FROM text)
     RETURNING message_id
   ),
   -- 6. Store the messages.
   stored AS (
     INSERT INTO messages AS m (team_id, id, number_id, direction, from_handle, to_handle, content, status, created_at, last_event_sequence, is_group)
     SELECT team_id, message_id, number_id, 'inbound', contact, phone_number, content, 'received', $10, 1, is_group FROM text
     RETURNING ${sqlMessageColumns('m')}
   ),
   -- 7. Note them in their conversations, which then have an answer.
   conversed AS (
     INSERT INTO conversations AS c (team_id, number_id, contact, opened_by, opened_at, last_inbound_at, last_activity_at,
       last_message_id, last_inbound_id)
     SELECT team_id, number_id, contact, 'contact', $10, $10, $10, (array_agg(message_id ORDER BY n DESC))[1],
       (array_agg(message_id ORDER BY n DESC))[1]
     FROM text GROUP BY team_id, number_id, contact ORDER BY number_id, contact
     ON CONFLICT (number_id, contact) DO UPDATE SET last_inbound_at = excluded.last_inbound_at, unanswered_count = 0,
       last_inbound_id = greatest(c.last_inbound_id, excluded.last_inbound_id), ${sqlNoteActivity}
   ),
   -- 8. Count those of real numbers in the day.
   counted AS (
     INSERT INTO usage_days AS d (team_id, day, direction, messages)
     SELECT team_id, $13, 'inbound', count(*) FROM text WHERE NOT is_simulated GROUP BY team_id ORDER BY team_id
     ON CONFLICT (team_id, day, direction) DO UPDATE SET messages = d.messages + excluded.messages
   )
   SELECT t.n::int, NULL AS ended, t.received_tests, t.pacing,
     ((SELECT count(*) FROM given) + (SELECT count(*) FROM fingerprinted))::int AS claims, ${sqlMessageColumns('s')}
   FROM text t JOIN stored s ON s.id = t.message_id
   UNION ALL
   SELECT d.n::int, d.ended, NULL, NULL, NULL, ${messageColumns.map(() => 'NULL').join(', ')}
   FROM device d WHERE d.ended IS NOT NULL
   ORDER BY n`,
  { changes: 'message', team: 'team_id', ids: 'id' },
  { changes: 'usage', team: 'team_id' },
);

type Services = Pick<Runtime, 'config' | 'database' | 'clock' | 'ids' | 'metrics'>;

/** Stores texts in one transaction. @returns one outcome per text, in order; a skipped one is left to `receiveMessage` */
export async function receiveTexts(
  services: Services,
  texts: readonly InboundText[],
): Promise<(TextOutcome | Skipped)[]> {
  const { database, clock, ids } = services;
  const at = clock.now();
  const batch = withoutRepeats(texts.map((text, index) => toRow(text, index, ids.next('msg', at.getTime()))));
  const outcomes: (TextOutcome | Skipped)[] = texts.map(() => skipped);
  await database.sharedTransaction(async (trx) => {
    const rows = await receive.rows(
      trx,
      batch.map(({ device }) => device.tokenHash),
      batch.map(({ device }) => device.numberId),
      batch.map(({ messageId }) => messageId),
      batch.map(({ contact }) => contact),
      batch.map(({ content }) => content),
      batch.map(({ isGroup }) => isGroup),
      batch.map(({ hashes }) => hashes.givenId),
      batch.map(({ hashes }) => hashes.run),
      batch.map(({ hashes }) => hashes.content),
      at,
      clock.in(-inboundRunMs, at),
      clock.in(-duplicateInboundMs, at),
      dayOf(at),
    );
    const stored = rows.filter((row) => row.ended === null);
    const hashed = new Map(batch.map(({ messageId, hashes }) => [messageId, hashes]));
    const claimed = stored.reduce((sum, { id }) => sum + countHashes(hashed.get(id)), 0);
    if (stored.some(({ claims }) => claims !== claimed)) throw new BatchConflictError();
    await appendMessageEvents(trx, services, 'message.received', stored);
    const wakesPhone = stored.filter(
      ({ pacing }) => effectivePacing(services.config.pacing, pacing).mode === 'strict',
    );
    // Under strict pacing a queued message may have waited for this reply, so the phone's poll is woken.
    if (wakesPhone.length > 0)
      trx.notifyAfterCommit(phoneQueueChannel, new Set(wakesPhone.map((row) => row.number_id)));
    failpoint('texts before commit');
    for (const row of rows) {
      const index = batch[row.n - 1]?.index;
      if (index !== undefined) outcomes[index] = toOutcome(row);
    }
  });
  return outcomes;
}

function toOutcome(row: ReceivedRow): TextOutcome {
  if (row.ended !== null) return { kind: 'ended', reason: row.ended };
  return { kind: 'received', id: row.id, receivedTests: row.received_tests };
}

interface TextRow {
  readonly index: number;
  readonly device: DeviceCaller;
  readonly messageId: MessageId;
  readonly contact: string;
  readonly content: string;
  readonly isGroup: boolean;
  readonly hashes: InboundHashes;
}

function toRow({ device, inbound }: InboundText, index: number, messageId: MessageId): TextRow {
  const sender = normalizeSender(inbound.from, device.phoneNumber);
  return {
    index,
    device,
    messageId,
    contact: senderContact(sender),
    content: inbound.text,
    isGroup: isGroupMessage(inbound.recipients, sender, device.phoneNumber),
    hashes: hashInbound({ ...inbound, content: [sender, inbound.text] }),
  };
}

/** Leaves out texts that repeat an earlier text of the batch, because a statement can't claim one hash twice. */
function withoutRepeats(rows: readonly TextRow[]): TextRow[] {
  const seen = new Set<string>();
  return rows.filter(({ device, hashes }) => {
    const keys = hashesOf(hashes).map((hash) => `${device.numberId} ${hash.toString('latin1')}`);
    const isNew = keys.every((key) => !seen.has(key));
    for (const key of keys) seen.add(key);
    return isNew;
  });
}

function hashesOf({ givenId, run, content }: InboundHashes): Buffer[] {
  return [givenId, run, content].filter((hash) => hash !== null);
}

function countHashes(hashes: InboundHashes | undefined): number {
  return hashes ? hashesOf(hashes).length : 0;
}
