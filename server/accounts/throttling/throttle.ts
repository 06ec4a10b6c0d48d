import { normalizeEmail, otherSignInHint } from '#server/accounts/account/account.ts';
import { checkPassword } from '#server/accounts/account/password.ts';
import { loginFailuresMax, loginWindowMs } from '#server/accounts/limits.ts';
import { listSessions } from '#server/accounts/sessions/session.ts';
import { type Queryable, query, type Transaction, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { rateLimited } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { AccountId } from '#server/platform/ids.ts';
import { windowSecondsLeft, windowStartMs } from '#server/platform/network/fixed-window-limiter.ts';
import { clientNetwork } from '#server/platform/network/ip-address.ts';

interface CounterRow {
  readonly subject: Buffer;
  readonly hits: number;
}

interface Subjects {
  /** SHA-256 of each name. */
  readonly subjects: readonly Buffer[];
  readonly windowStart: Date;
}

const increment = query<Subjects, CounterRow>(
  'throttle.increment',
  `INSERT INTO throttle_counters AS f (subject, window_start, hits)
   SELECT s, :windowStart::timestamptz, 1 FROM unnest(:subjects::bytea[]) AS s ORDER BY s
   ON CONFLICT (subject, window_start) DO UPDATE SET hits = f.hits + 1
   RETURNING subject, hits`,
).rows;
const lock = transactionQuery<Subjects>(
  'throttle.lock',
  `SELECT FROM throttle_counters WHERE subject = ANY(:subjects::bytea[]) AND window_start = :windowStart
   ORDER BY subject FOR UPDATE`,
).run;
const decrement = transactionQuery<Subjects>(
  'throttle.decrement',
  `MERGE INTO throttle_counters AS f USING unnest(:subjects::bytea[]) AS s ON f.subject = s AND f.window_start = :windowStart
   WHEN MATCHED AND f.hits > 1 THEN UPDATE SET hits = f.hits - 1
   WHEN MATCHED THEN DELETE`,
).run;

/** Deletes counters of windows that begin after a time, because the clock was ahead when they were counted. */
export const purgeWindowsAhead = query<{ after: Date }>(
  'throttle-counters.purge-ahead',
  'DELETE FROM throttle_counters WHERE window_start > :after',
).run;

interface CountedWindow extends Subjects {
  /** The counters' values, in the order of `names`. */
  readonly counts: readonly number[];
  /** Whole seconds until the window ends, for retry-after. */
  readonly secondsLeft: number;
}

const hourMs = 3_600_000;

/**
 * Throttle: adds one to the counter of each subject in the current window, which is an hour unless `windowMs` says
 * otherwise. Rows are locked in the order of subjects.
 */
export async function countInWindow(
  db: Queryable,
  { clock }: Runtime,
  names: readonly string[],
  windowMs = hourMs,
): Promise<CountedWindow> {
  const nowMs = clock.nowMs();
  const windowStart = new Date(windowStartMs(nowMs, windowMs));
  const subjects = names.map(sha256);
  const rows = await increment(db, { subjects, windowStart });
  const counts = subjects.map((subject) => rows.find((row) => row.subject.equals(subject))?.hits ?? 0);
  return { counts, subjects, windowStart, secondsLeft: windowSecondsLeft(nowMs, windowMs) };
}

/** Subtracts one from the counter of each subject. Rows are locked in the order of subjects. */
export async function decrementCounters(trx: Transaction, counted: CountedWindow): Promise<void> {
  await lock(trx, counted);
  await decrement(trx, counted);
}

/** An id that no account has: the look-up of an unknown address must take as long as that of a known one. */
const unknownAccountId = '00000000-0000-0000-0000-000000000000' as AccountId;

/**
 * Whether the account has a session from the client network of a request. The login throttle exempts such a network, so
 * that the owner can sign in while strangers guess passwords elsewhere (specification section 12.2).
 */
export async function isKnownNetwork(
  db: Queryable,
  { clock }: Runtime,
  ip: string,
  accountId = unknownAccountId,
): Promise<boolean> {
  const sessions = await listSessions(db, { accountId, now: clock.expiryNow() });
  return sessions.some((session) => clientNetwork(session.ip) === clientNetwork(ip));
}

interface LoginAttempt {
  readonly email: string;
  readonly ip: string;
  /** The account with the address of the attempt; undefined if there is none. */
  readonly accountId: AccountId | undefined;
  /** The browser's id from its device cookie; undefined without a valid device cookie. */
  readonly browser?: string | undefined;
}

/**
 * Login throttle: counts an attempt before its password is checked, so that concurrent attempts cannot exceed a limit.
 * A refused attempt is not counted, so that one client network cannot lock an address for others. An attempt counts as
 * failed until the caller takes it out of the counts, because its password was right.
 * @throws 429 with retry-after
 */
export function countPasswordAttempt(services: Runtime, who: LoginAttempt): Promise<CountedWindow> {
  return services.database.transaction(async (trx) => {
    const counted = await countInWindow(trx, services, subjectsOf(who), loginWindowMs);
    // The error rolls the transaction back, so the refused attempt is not counted.
    if (await isOverLimit(trx, services, who, counted.counts)) {
      throw rateLimited(
        counted.secondsLeft,
        'Too many wrong passwords were tried',
        `, or sign in with ${otherSignInHint(services.config)}`,
      );
    }
    return counted;
  });
}

function subjectsOf({ email, ip, browser }: LoginAttempt): string[] {
  const key = normalizeEmail(email);
  if (browser !== undefined) return [`browser ${browser} ${key}`, `browsers ${key}`];
  const source = clientNetwork(ip);
  return [`both ${source} ${key}`, `source ${source}`, `address ${key}`];
}

/** @param counts the counts of the subjects that `subjectsOf` returns, in its order */
async function isOverLimit(
  trx: Transaction,
  services: Runtime,
  { browser, accountId, ip }: LoginAttempt,
  [first = 0, second = 0, ofAddress = 0]: readonly number[],
): Promise<boolean> {
  const { perBrowser, perEmailFromKnownBrowsers, perEmailAndNetwork, perNetwork, perEmail } =
    loginFailuresMax;
  // All browsers with device cookies together have a limit, too, so that a former user with many such cookies can't go
  // on guessing.
  if (browser !== undefined) return first > perBrowser || second > perEmailFromKnownBrowsers;
  if (first > perEmailAndNetwork || second > perNetwork) return true;
  return ofAddress > perEmail && !(await isKnownNetwork(trx, services, ip, accountId));
}

/**
 * Counts an attempt, and checks its password. A check that fails with an error is not counted.
 * @returns the counted attempt, which the caller takes out of the counts; undefined for a wrong password
 * @throws 429; 503
 */
export async function tryPassword(
  services: Runtime,
  who: LoginAttempt,
  password: string,
  hash: string | null | undefined,
): Promise<CountedWindow | undefined> {
  const attempt = await countPasswordAttempt(services, who);
  try {
    return (await checkPassword(password, hash)) ? attempt : undefined;
  } catch (error) {
    await services.database.transaction((trx) => decrementCounters(trx, attempt));
    throw error;
  }
}
