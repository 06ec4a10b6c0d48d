import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { AppError } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { AccountId } from '#server/platform/ids.ts';
import { sourceOf } from '#server/platform/source-of.ts';
import { countBack, countUp } from './attempt-store.ts';
import { emailKey } from './email.ts';
import { withoutPassword } from './other-ways.ts';
import { isOwnSource } from './own-source.ts';
import { checkPassword } from './password.ts';

/** How long failed passwords are counted together. */
export const attemptWindowMs = 900_000;

/** Failed passwords that a window takes (specification section 12.2); known browsers are counted apart from sources. */
export const failuresMax = {
  ofAddressFromSource: 10,
  fromSource: 50,
  ofAddress: 100,
  ofBrowser: 10,
  ofBrowsers: 100,
} as const;

/** A password that is tried, counted as one that fails until it proves right. */
export interface Attempt {
  readonly subjects: readonly Buffer[];
  readonly windowStart: Date;
}

/** Who tries a password. */
interface Trier {
  readonly email: string;
  readonly ip: string;
  /** Of the address, where it has an account. */
  readonly accountId: AccountId | undefined;
  /** Where that account knows the browser (known-browser.ts). */
  readonly browser?: string | undefined;
}

/**
 * Lets a password be tried, or holds it back. It is counted before it is looked at, or a thousand that come at once would
 * all pass; one that is held back does not count, or a source could shut an address for others by knocking on.
 * @throws 429 with retry-after
 */
export function countAttempt(
  { database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>,
  who: Trier,
): Promise<Attempt> {
  const windowStart = new Date(Math.floor(clock.nowMs() / attemptWindowMs) * attemptWindowMs);
  const subjects = subjectsOf(who).map(sha256);
  return database.transaction(async (trx) => {
    const counts = await countUp(trx, subjects, windowStart);
    const isHeldBack =
      who.browser === undefined
        ? await isSourceHeldBack(trx, who, counts, clock.expiryNow())
        : isBrowserHeldBack(counts);
    // Rolls the count back as well.
    if (isHeldBack) throw heldBack(windowStart.getTime() + attemptWindowMs - clock.nowMs(), config);
    return { subjects, windowStart };
  });
}

function subjectsOf({ email, ip, browser }: Trier): string[] {
  const key = emailKey(email);
  if (browser !== undefined) return [`browser ${browser} ${key}`, `browsers ${key}`];
  const source = sourceOf(ip);
  return [`both ${source} ${key}`, `source ${source}`, `address ${key}`];
}

async function isSourceHeldBack(
  trx: Transaction,
  { accountId, ip }: Trier,
  [both = 0, ofSource = 0, ofAddress = 0]: readonly number[],
  now: Date,
): Promise<boolean> {
  if (both > failuresMax.ofAddressFromSource || ofSource > failuresMax.fromSource) return true;
  return ofAddress > failuresMax.ofAddress && !(await isOwnSource(trx, accountId, ip, now));
}

/** Of an account's browsers together too, or whoever collected cookies while they could sign in would guess without end. */
function isBrowserHeldBack([ofBrowser = 0, ofBrowsers = 0]: readonly number[]): boolean {
  return ofBrowser > failuresMax.ofBrowser || ofBrowsers > failuresMax.ofBrowsers;
}

/** Whether a password that was counted is right. One that could not be looked at does not count. @throws 503 */
export async function checkAttempt(
  { database }: Pick<Runtime, 'database'>,
  attempt: Attempt,
  password: string,
  hash: string | null | undefined,
): Promise<boolean> {
  try {
    return await checkPassword(password, hash);
  } catch (error) {
    await database.transaction((trx) => forgiveAttempt(trx, attempt));
    throw error;
  }
}

/** Takes an attempt back: its password was right, or could not be looked at. */
export function forgiveAttempt(trx: Transaction, attempt: Attempt): Promise<void> {
  return countBack(trx, attempt.subjects, attempt.windowStart);
}

function heldBack(ms: number, config: Runtime['config']): AppError {
  const seconds = Math.max(1, Math.ceil(ms / 1_000));
  return new AppError(
    'rate_limited',
    `Too many passwords were wrong. Retry in ${seconds} seconds, or sign in with ${withoutPassword(config)}.`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
