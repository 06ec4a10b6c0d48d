import { mediaFetchesChannel, phoneQueueChannel } from '#server/database/channels.ts';
import { errorCodeOf, isDatabaseAway } from '#server/database/database.ts';
import { PoolTimeoutError } from '#server/database/pool-timeout.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import { diskFullCode } from '#server/database/write-error.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { MessageId, TeamId } from '#server/platform/ids/ids.ts';
import { dayOf, monthOf } from '#server/platform/time/calendar.ts';
import { ensureUsageMonth } from '#server/usage/usage-store.ts';
import {
  acceptUnlocked,
  acceptWaiting,
  type SendOutcomeGroupRow,
  type SendRow,
  type SendVerdict,
} from './accept-statement.ts';
import { idempotencyKeyMs } from './limits.ts';

const findIdempotencyKeys = statement<
  [number[], TeamId[], (string | null)[], (Buffer<ArrayBufferLike> | null)[], Date],
  { n: number; same: boolean }
>(
  'messages.find-idempotency-keys',
  `SELECT i.n, k.fingerprint = i.fingerprint AS same
   FROM unnest($1::int[], $2::uuid[], $3::text[], $4::bytea[]) AS i (n, team_id, key, fingerprint)
   CROSS JOIN LATERAL (
     SELECT fingerprint FROM idempotency_keys WHERE team_id = i.team_id AND key = i.key AND created_at > $5 OFFSET 0
   ) k`,
);

/** The outcome of a send whose team or number another transaction has locked. */
export interface Locked {
  readonly verdict: 'locked';
}
const locked: Locked = { verdict: 'locked' };

type Services = Pick<Runtime, 'database' | 'clock' | 'ids' | 'logger' | 'secrets'>;

/** A send with the id that its message gets if this attempt accepts it. */
interface Attempt extends SendRow {
  readonly messageId: MessageId;
}

export interface SendOutcome {
  readonly verdict: Exclude<SendVerdict, 'again' | 'month_missing' | 'locked'>;
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

export type LockWaitPolicy = 'wait' | 'skip_locked';

/**
 * Accepts sends and returns one outcome per row, in order. A row that lost a race for its idempotency key, or found no
 * usage row for its month, runs again at once. A refused row whose key was accepted meanwhile also runs again. Each run
 * has its own time, which its message ids contain, so ids sort as created_at does. The outcome `locked` occurs only
 * with `skip_locked`.
 */
export async function acceptSends(
  services: Services,
  rows: readonly SendRow[],
  locking?: 'wait',
): Promise<SendOutcome[]>;
export async function acceptSends(
  services: Services,
  rows: readonly SendRow[],
  locking: LockWaitPolicy,
): Promise<(SendOutcome | Locked)[]>;
export async function acceptSends(
  services: Services,
  rows: readonly SendRow[],
  locking: LockWaitPolicy = 'wait',
): Promise<(SendOutcome | Locked)[]> {
  const outcomes: (SendOutcome | Locked | undefined)[] = rows.map(() => undefined);
  let open = rows.map((_, index) => index);
  while (open.length > 0) {
    const at = services.clock.now();
    const again: number[] = [];
    const batch = open.flatMap((index) => {
      const row = rows[index];
      return row ? { ...row, messageId: services.ids.next('msg', at.getTime()) } : [];
    });
    const results = await runBatch(services, batch, at, locking);
    const repeats = await findIdempotentRepeats(services, batch, results);
    for (const [position, result] of results.entries()) {
      const index = open[position];
      if (index === undefined) continue;
      if (result.verdict === 'again' || result.verdict === 'month_missing' || repeats.has(position))
        again.push(index);
      else if (result.verdict === 'locked') outcomes[index] = locked;
      else outcomes[index] = toOutcome(result.verdict, result, batch[position], at);
    }
    if (results.some((result) => result.verdict === 'month_missing')) {
      await ensureUsageMonth(
        services.database.hot,
        [...new Set(rows.map((row) => row.teamId))].sort(),
        monthOf(at),
      );
    }
    open = again;
  }
  return outcomes.flatMap((outcome) => outcome ?? []);
}

const refusals: ReadonlySet<SendVerdict> = new Set([
  'key_reused',
  'from_unregistered',
  'from_pending',
  'from_paused',
  'to_not_fictional',
  'opted_out',
  'media_not_in_plan',
  'over_limit',
]);

/**
 * Finds refused rows whose idempotency key exists by now, and returns their indexes. The send statement looks keys up
 * in its snapshot, but decides refusals under locks. While the statement waited for a lock, the request that the row
 * repeats may have been accepted.
 */
async function findIdempotentRepeats(
  { database, clock }: Services,
  batch: readonly SendRow[],
  results: readonly SendOutcomeGroupRow[],
): Promise<ReadonlySet<number>> {
  if (!results.some(({ verdict }) => refusals.has(verdict))) return new Set();
  const refused = results.flatMap(({ verdict }, position) => {
    const row = batch[position];
    return row && row.idempotencyKey !== null && refusals.has(verdict) ? [{ position, row, verdict }] : [];
  });
  if (refused.length === 0) return new Set();
  const known = await findIdempotencyKeys
    .rows(
      database.hot,
      refused.map((_, n) => n),
      refused.map(({ row }) => row.teamId),
      refused.map(({ row }) => row.idempotencyKey),
      refused.map(({ row }) => row.fingerprint),
      idempotencyKeysSince(clock),
    )
    .catch(throwOutcomeUnknown);
  return new Set(
    known.flatMap(({ n, same }) => {
      const found = refused[n];
      // If the key belongs to a request with other fields, the verdict `key_reused` is kept.
      return found && (same || found.verdict !== 'key_reused') ? [found.position] : [];
    }),
  );
}

function toOutcome(
  verdict: SendOutcome['verdict'],
  row: SendOutcomeGroupRow,
  attempt: Attempt | undefined,
  createdAt: Date,
): SendOutcome {
  return {
    verdict,
    createdAt,
    messageId: verdict === 'accepted' ? (attempt?.messageId ?? null) : row.known_message_id,
    monthlyLimit: row.monthly_limit,
    used: row.used,
  };
}

async function runBatch(
  services: Services,
  rows: readonly Attempt[],
  at: Date,
  locking: LockWaitPolicy,
): Promise<SendOutcomeGroupRow[]> {
  try {
    return await runStatement(services, rows, at, locking);
  } catch (error) {
    const code = errorCodeOf(error);
    // SQLSTATE classes 22 and 23: PostgreSQL can't store one of the rows. Each row then runs alone, so that only the
    // bad row fails.
    if (code?.startsWith('22') || code?.startsWith('23')) {
      if (rows.length === 1) return [notStored(services, error)];
      const results: SendOutcomeGroupRow[] = [];
      for (const row of rows) results.push(...(await runBatch(services, [row], at, locking)));
      return results;
    }
    return throwOutcomeUnknown(error);
  }
}

function throwOutcomeUnknown(error: unknown): never {
  const isStored = !(error instanceof PoolTimeoutError) && errorCodeOf(error) !== diskFullCode;
  if (!isStored || !isDatabaseAway(error)) throw error;
  throw new AppError(
    'internal_error',
    'The database went away while the message was being accepted. It may have been accepted: ' +
      'repeat the request with the same Idempotency-Key, and it is accepted once.',
    { headers: { 'retry-after': '2' }, cause: error },
  );
}

function notStored({ logger }: Services, error: unknown): SendOutcomeGroupRow {
  logger.error({ err: error }, 'storing a message failed after it passed every check');
  return {
    indexes: [1],
    verdict: 'not_stored',
    known_message_id: null,
    number_id: null,
    monthly_limit: 0,
    used: 0,
  };
}

async function runStatement(
  services: Services,
  rows: readonly Attempt[],
  at: Date,
  locking: LockWaitPolicy,
): Promise<SendOutcomeGroupRow[]> {
  const accept = locking === 'wait' ? acceptWaiting : acceptUnlocked;
  const { senders, positions } = listSenders(rows);
  const pads = services.secrets.contactHashPads();
  const groups = await accept.rows(
    services.database.hot,
    senders.map((sender) => sender.teamId),
    rows.map((row) => row.messageId),
    rows.map((row) => row.from),
    rows.map((row) => row.to),
    rows.map((row) => row.content),
    emptyIfNull(rows.map((row) => row.idempotencyKey)),
    emptyIfNull(rows.map((row) => row.fingerprint)),
    at,
    monthOf(at),
    idempotencyKeysSince(services.clock),
    dayOf(at),
    emptyIfNull(rows.map((row) => row.media?.url ?? null)),
    emptyIfNull(rows.map((row) => row.media?.origin ?? null)),
    rows.map((row) => row.contact),
    senders.map((sender) => sender.sentBy),
    positions,
    pads.inner,
    pads.outer,
  );
  const woken = new Set(
    groups.flatMap((group) => (group.verdict === 'accepted' ? (group.number_id ?? []) : [])),
  );
  if (woken.size > 0) services.database.notify(phoneQueueChannel, woken);
  if (woken.size > 0 && rows.some((row) => row.media)) services.database.notify(mediaFetchesChannel, []);
  return perRow(groups);
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
function emptyIfNull<Value>(values: readonly (Value | null)[]): readonly (Value | null)[] {
  return values.some((value) => value !== null) ? values : [];
}

/** Spreads the groups' outcomes over the rows, in order. */
function perRow(groups: readonly SendOutcomeGroupRow[]): SendOutcomeGroupRow[] {
  const results: SendOutcomeGroupRow[] = [];
  for (const group of groups) for (const position of group.indexes) results[position - 1] = group;
  return results;
}
