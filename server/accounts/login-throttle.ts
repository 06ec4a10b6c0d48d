import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { AppError } from '#server/platform/app-error.ts';
import { clientNetwork } from '#server/platform/client-network.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { AccountId } from '#server/platform/ids.ts';
import { emailKey } from './email.ts';
import { isKnownNetwork } from './known-network.ts';
import { withoutPassword } from './other-ways.ts';
import { checkPassword } from './password.ts';
import { countUp, refundCounts } from './throttle-store.ts';

/** How long failed passwords are counted together. */
export const attemptWindowMs = 900_000;

/** Failed passwords that a window takes (specification section 12.2); known browsers are counted apart from client networks. */
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
interface LoginAttempt {
  readonly email: string;
  readonly ip: string;
  /** Of the address, where it has an account. */
  readonly accountId: AccountId | undefined;
  /** Where that account knows the browser (known-browser.ts). */
  readonly browser?: string | undefined;
}

/**
 * Lets a password be tried, or holds it back. It is counted before it is looked at, or a thousand that come at once would
 * all pass; one that is held back does not count, or a client network could shut an address for others by trying on.
 * @throws 429 with retry-after
 */
export function countAttempt(
  { database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>,
  who: LoginAttempt,
): Promise<Attempt> {
  const windowStart = new Date(Math.floor(clock.nowMs() / attemptWindowMs) * attemptWindowMs);
  const subjects = subjectsOf(who).map(sha256);
  return database.transaction(async (trx) => {
    const counts = await countUp(trx, subjects, windowStart);
    const isHeldBack =
      who.browser === undefined
        ? await isNetworkThrottled(trx, who, counts, clock.expiryNow())
        : isDeviceThrottled(counts);
    // Rolls the count back as well.
    if (isHeldBack) throw throttled(windowStart.getTime() + attemptWindowMs - clock.nowMs(), config);
    return { subjects, windowStart };
  });
}

function subjectsOf({ email, ip, browser }: LoginAttempt): string[] {
  const key = emailKey(email);
  if (browser !== undefined) return [`browser ${browser} ${key}`, `browsers ${key}`];
  const source = clientNetwork(ip);
  return [`both ${source} ${key}`, `source ${source}`, `address ${key}`];
}

async function isNetworkThrottled(
  trx: Transaction,
  { accountId, ip }: LoginAttempt,
  [both = 0, ofSource = 0, ofAddress = 0]: readonly number[],
  now: Date,
): Promise<boolean> {
  if (both > failuresMax.ofAddressFromSource || ofSource > failuresMax.fromSource) return true;
  return ofAddress > failuresMax.ofAddress && !(await isKnownNetwork(trx, accountId, ip, now));
}

/** Of an account's browsers together too, or whoever collected cookies while they could sign in would guess without end. */
function isDeviceThrottled([ofBrowser = 0, ofBrowsers = 0]: readonly number[]): boolean {
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
    await database.transaction((trx) => refundAttempt(trx, attempt));
    throw error;
  }
}

/** Takes an attempt back: its password was right, or could not be looked at. */
export function refundAttempt(trx: Transaction, attempt: Attempt): Promise<void> {
  return refundCounts(trx, attempt.subjects, attempt.windowStart);
}

function throttled(ms: number, config: Runtime['config']): AppError {
  const seconds = Math.max(1, Math.ceil(ms / 1_000));
  return new AppError(
    'rate_limited',
    `Too many passwords were wrong. Retry in ${seconds} seconds, or sign in with ${withoutPassword(config)}.`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
