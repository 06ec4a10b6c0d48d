import { setTimeout as pause } from 'node:timers/promises';
import { mediaFetchesChannel, phoneQueueChannel } from '#server/database/channels.ts';
import { isDatabaseAway, readOnlyCode } from '#server/database/database.ts';
import { diskFullCode } from '#server/database/database-errors.ts';
import { again } from '#server/database/group-commit.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { NoConnectionError } from '#server/database/seek-connection.ts';
import { AppError } from '#server/platform/app-error.ts';
import { errorCodeOf } from '#server/platform/error-code.ts';
import type { MessageId, TeamId } from '#server/platform/ids.ts';
import { dayOf, monthOf } from '#server/platform/time/calendar.ts';
import { ensureUsageMonth } from '#server/usage/usage.ts';
import {
  acceptStatement,
  type SendOutcomeGroupRow,
  type SendRow,
  type SendVerdict,
} from './accept-statement.ts';
import { idempotencyKeyMs } from './limits.ts';

const findIdempotencyKeys = query<
  {
    positions: number[];
    teamIds: TeamId[];
    idempotencyKeys: (string | null)[];
    fingerprints: (Buffer | null)[];
    keysSince: Date;
  },
  { n: number; same: boolean }
>(
  'messages.find-idempotency-keys',
  `SELECT i.n, k.fingerprint = i.fingerprint AS same
   FROM unnest(:positions::int[], :teamIds::uuid[], :idempotencyKeys::text[], :fingerprints::bytea[]) AS i (n, team_id, key, fingerprint)
   CROSS JOIN LATERAL (
     SELECT fingerprint FROM idempotency_keys WHERE team_id = i.team_id AND key = i.key AND created_at > :keysSince OFFSET 0
   ) k`,
);

const findStored = query<
  { teamIds: TeamId[]; messageIds: MessageId[] },
  { id: MessageId; number_id: string }
>(
  'messages.find-stored',
  // The lock makes this a commit, as a replay is one: it waits for a synchronous standby, and a standby refuses it.
  `SELECT m.id, m.number_id FROM unnest(:teamIds::uuid[], :messageIds::uuid[]) AS i (team_id, id)
   JOIN messages m ON m.team_id = i.team_id AND m.id = i.id FOR KEY SHARE OF m`,
).rows;

/**
 * Until when the messages of a batch are looked for, from its start. Sends that wait behind it then still get their
 * answer within 13 s. A statement that times out ends later, so it is not looked up.
 */
const lookUntilMs = 7_000;
const lookPauseMs = 150;

/** A send with the id that its message gets if this attempt accepts it. */
interface Attempt extends SendRow {
  readonly messageId: MessageId;
}

export interface SendOutcome {
  readonly verdict: Exclude<SendVerdict, 'again' | 'month_missing'>;
  readonly createdAt: Date;
  /** The accepted message, or the earlier message with the same idempotency key; null if there is neither. */
  readonly messageId: MessageId | null;
  readonly monthlyLimit: number;
  readonly used: number;
}

/** Idempotency keys that were created before this time have expired (specification section 4.3). */
function idempotencyKeysSince(clock: Runtime['clock']): Date {
  return new Date(clock.expiryNow().getTime() - idempotencyKeyMs);
}

/**
 * Accepts sends by one statement, and returns one outcome per row, in order. It waits for no lock of a team or number.
 * A row is `again` if a concurrent request has locked its team, number or idempotency key, or may free quota. So is a
 * row whose team had no usage row for the month, and a refused row whose idempotency key exists by now. Message ids
 * contain the one acceptance time of the batch, so they sort as created_at does; the id of a reply is a little earlier.
 * @throws if nothing was stored, or the database went away
 */
export async function acceptSends(
  services: Runtime,
  rows: readonly SendRow[],
): Promise<(SendOutcome | typeof again)[]> {
  const at = services.clock.now();
  const batch = rows.map((row) => ({
    ...row,
    messageId: row.messageId ?? services.ids.next('msg', at.getTime()),
  }));
  const results = await runStatement(services, batch, at);
  const repeats = await findRetries(services, batch, results, at);
  return results.map((result, position) => {
    const { verdict } = result;
    if (verdict === 'again' || verdict === 'month_missing' || repeats.has(position)) return again;
    return {
      verdict,
      createdAt: at,
      messageId: verdict === 'accepted' ? (batch[position]?.messageId ?? null) : result.known_message_id,
      monthlyLimit: result.monthly_limit,
      used: result.used,
    };
  });
}

/** Whether an earlier send of the team has this idempotency key. */
export function hasIdempotencyKey(
  { database, clock }: Runtime,
  teamId: TeamId,
  key: string | undefined,
): Promise<boolean> {
  if (key === undefined) return Promise.resolve(false);
  return findIdempotencyKeys.hasRow(database.hot, {
    positions: [0],
    teamIds: [teamId],
    idempotencyKeys: [key],
    fingerprints: [null],
    keysSince: idempotencyKeysSince(clock),
  });
}

/** The outcome of a send that PostgreSQL can't store (SQLSTATE classes 22 and 23); undefined for any other error. */
export function notStored({ clock, logger }: Runtime, error: unknown): SendOutcome | undefined {
  if (!/^2[23]/.test(errorCodeOf(error) ?? '')) return undefined;
  logger.error({ err: error }, 'storing a message failed after it passed every check');
  return { verdict: 'not_stored', createdAt: clock.now(), messageId: null, monthlyLimit: 0, used: 0 };
}

/**
 * Creates missing usage rows of the month, and finds the refused rows that have to run again.
 * @returns the indexes of these rows. If a step fails after a message of the batch was stored, all refused rows run
 * again: a lasting error then fails their next batch
 * @throws if a step fails and the batch stored no message
 */
async function findRetries(
  services: Runtime,
  batch: readonly SendRow[],
  results: readonly SendOutcomeGroupRow[],
  at: Date,
): Promise<ReadonlySet<number>> {
  try {
    if (results.some(({ verdict }) => verdict === 'month_missing')) {
      const missing = batch.filter((_, position) => results[position]?.verdict === 'month_missing');
      const teamIds = [...new Set(missing.map((row) => row.teamId))].sort();
      await ensureUsageMonth(services.database.batches, { teamIds, month: monthOf(at) });
    }
    return await findIdempotentRepeats(services, batch, results);
  } catch (error) {
    if (!results.some(({ verdict }) => verdict === 'accepted')) throw error;
    services.logger.warn({ err: error }, 'refused sends run again, because they could not be checked');
    return new Set(results.flatMap(({ verdict }, index) => (refusals.has(verdict) ? [index] : [])));
  }
}

const refusals: ReadonlySet<SendVerdict> = new Set([
  'key_reused',
  'from_unregistered',
  'from_pending',
  'from_paused',
  'to_not_fictional',
  'opted_out',
  'media_missing',
  'media_not_in_plan',
  'over_limit',
]);

/**
 * Finds refused rows whose idempotency key exists by now, and returns their indexes. The send statement looks keys up
 * in its snapshot, but decides refusals under locks. Meanwhile, the request that the row repeats may have been
 * accepted.
 */
async function findIdempotentRepeats(
  { database, clock }: Runtime,
  batch: readonly SendRow[],
  results: readonly SendOutcomeGroupRow[],
): Promise<ReadonlySet<number>> {
  if (!results.some(({ verdict }) => refusals.has(verdict))) return new Set();
  const refused = results.flatMap(({ verdict }, position) => {
    const row = batch[position];
    return row && row.idempotencyKey !== null && refusals.has(verdict) ? [{ position, row, verdict }] : [];
  });
  if (refused.length === 0) return new Set();
  const known = await findIdempotencyKeys.rows(database.hot, {
    positions: refused.map((_, n) => n),
    teamIds: refused.map(({ row }) => row.teamId),
    idempotencyKeys: refused.map(({ row }) => row.idempotencyKey),
    fingerprints: refused.map(({ row }) => row.fingerprint),
    keysSince: idempotencyKeysSince(clock),
  });
  return new Set(
    known.flatMap(({ n, same }) => {
      const found = refused[n];
      // If the key belongs to a request with other fields, the verdict `key_reused` is kept.
      return found && (same || found.verdict !== 'key_reused') ? [found.position] : [];
    }),
  );
}

/** Whether the batch that failed with this error may have been stored: the database went away during its statement. */
function isInDoubt(error: unknown): boolean {
  const isRolledBack = [diskFullCode, readOnlyCode].includes(errorCodeOf(error) ?? '');
  return !(error instanceof NoConnectionError) && !isRolledBack && isDatabaseAway(error);
}

/** Throws the error of a batch. If it is in doubt, the error says that the message may have been accepted. */
export function throwOutcomeUnknown(error: unknown): never {
  if (!isInDoubt(error)) throw error;
  throw new AppError(
    'internal_error',
    'The database went away while the message was being accepted. It may have been accepted: ' +
      'repeat the request with the same Idempotency-Key, and it is accepted once.',
    { headers: { 'retry-after': '2' }, cause: error },
  );
}

/**
 * Looks for the messages of a failed batch if it is in doubt. A batch is one statement. So if one of its messages
 * stands, the batch has ended, and its other rows stored nothing: they run again.
 * @throws the error of the batch if it is not in doubt, or no message was found: PostgreSQL may still be storing them
 */
async function lookUp(
  { database }: Runtime,
  rows: readonly Attempt[],
  untilMs: number,
  error: unknown,
): Promise<SendOutcomeGroupRow[]> {
  if (!isInDoubt(error)) throw error;
  const ids = { teamIds: rows.map((row) => row.teamId), messageIds: rows.map((row) => row.messageId) };
  const leftMs = () => untilMs - performance.now();
  let stored: Awaited<ReturnType<typeof findStored>> | undefined;
  while (!stored && leftMs() > 0) {
    // Further connections of the pool may break now, too.
    const look = findStored(database.batches, ids).catch(() => pause(lookPauseMs, undefined));
    stored = await Promise.race([look, pause(leftMs(), undefined, { ref: false })]);
  }
  if (!stored?.length) throw error;
  const numbers = new Map(stored.map((message) => [message.id, message.number_id]));
  return rows.map(({ messageId }, index) => {
    const numberId = numbers.get(messageId);
    const verdict = numberId === undefined ? 'again' : 'accepted';
    const unused = { known_message_id: null, monthly_limit: 0, used: 0 };
    return { indexes: [index + 1], verdict, number_id: numberId ?? null, ...unused };
  });
}

/** @returns one outcome per row, in order */
async function runStatement(
  services: Runtime,
  rows: readonly Attempt[],
  at: Date,
): Promise<SendOutcomeGroupRow[]> {
  const { senders, positions } = listSenders(rows);
  const untilMs = performance.now() + lookUntilMs;
  const accepting = acceptStatement.rows(services.database.batches, {
    teamIds: senders.map((sender) => sender.teamId),
    senderIds: senders.map((sender) => sender.sentBy),
    senders: positions,
    messageIds: rows.map((row) => row.messageId),
    fromHandles: rows.map((row) => row.from),
    toHandles: rows.map((row) => row.to),
    contents: rows.map((row) => row.content),
    idempotencyKeys: emptyIfNull(rows.map((row) => row.idempotencyKey)),
    fingerprints: emptyIfNull(rows.map((row) => row.fingerprint)),
    mediaUrls: emptyIfNull(rows.map((row) => row.media?.urlOf(row.messageId) ?? null)),
    mediaOrigins: emptyIfNull(rows.map((row) => row.media?.origin ?? null)),
    contacts: rows.map((row) => row.contact),
    contactHashes: `{${rows.map((row) => services.secrets.contactHash(row.teamId, row.contact)).join(',')}}`,
    at,
    month: monthOf(at),
    day: dayOf(at),
    keysSince: idempotencyKeysSince(services.clock),
  });
  const groups = await accepting.catch((error: unknown) => lookUp(services, rows, untilMs, error));
  const woken = new Set(
    groups.flatMap((group) => (group.verdict === 'accepted' ? (group.number_id ?? []) : [])),
  );
  if (woken.size > 0) services.database.notify(phoneQueueChannel, woken);
  if (woken.size > 0 && rows.some((row) => row.media)) services.database.notify(mediaFetchesChannel, []);
  const results: SendOutcomeGroupRow[] = [];
  for (const group of groups) for (const position of group.indexes) results[position - 1] = group;
  return results;
}

type Sender = Pick<SendRow, 'teamId' | 'sentBy'>;

/**
 * Lists each sender of a batch once, and for each row the position of its sender, from 1. Repeated ids would be slow,
 * because PostgreSQL parses each.
 */
function listSenders(rows: readonly Sender[]) {
  const positionOf = new Map<string, number>();
  const senders: Sender[] = [];
  const positions = rows.map((row) => {
    const sender = `${row.teamId} ${row.sentBy}`;
    const known = positionOf.get(sender);
    if (known !== undefined) return known;
    senders.push(row);
    positionOf.set(sender, senders.length);
    return senders.length;
  });
  return { senders, positions };
}

/** Returns an empty array if all values are null: unnest fills up the shorter arrays with nulls. */
function emptyIfNull<Value>(values: (Value | null)[]): (Value | null)[] {
  return values.some((value) => value !== null) ? values : [];
}
