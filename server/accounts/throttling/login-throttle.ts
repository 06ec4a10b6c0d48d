import { normalizeEmail } from '#server/accounts/account/email.ts';
import { checkPassword } from '#server/accounts/account/password.ts';
import { otherSignInHint } from '#server/accounts/account/sign-in-hints.ts';
import { loginFailuresMax, loginWindowMs } from '#server/accounts/limits.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { rateLimited } from '#server/platform/app-error.ts';
import type { AccountId } from '#server/platform/ids/ids.ts';
import { clientNetwork } from '#server/platform/network/client-network.ts';
import { isKnownNetwork } from './known-network.ts';
import { countInWindow, decrementCounters } from './throttle-store.ts';

/** A counted attempt with a password. It counts as failed until the password proves right. */
export interface PasswordAttempt {
  readonly subjects: readonly Buffer[];
  readonly windowStart: Date;
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
 * A refused attempt is not counted, so that one client network cannot lock an address for others.
 * @throws 429 with retry-after
 */
export function countPasswordAttempt(
  services: Pick<Runtime, 'database' | 'clock' | 'config'>,
  who: LoginAttempt,
): Promise<PasswordAttempt> {
  return services.database.transaction(async (trx) => {
    const counted = await countInWindow(trx, services, subjectsOf(who), loginWindowMs);
    const { counts, secondsLeft } = counted;
    const isHeldBack =
      who.browser === undefined
        ? await isNetworkThrottled(trx, who, counts, services.clock.expiryNow())
        : isDeviceThrottled(counts);
    // The error rolls the transaction back, so the refused attempt is not counted.
    if (isHeldBack) {
      throw rateLimited(
        secondsLeft,
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

async function isNetworkThrottled(
  trx: Transaction,
  { accountId, ip }: LoginAttempt,
  [both = 0, ofSource = 0, ofAddress = 0]: readonly number[],
  now: Date,
): Promise<boolean> {
  if (both > loginFailuresMax.perEmailAndNetwork || ofSource > loginFailuresMax.perNetwork) return true;
  return ofAddress > loginFailuresMax.perEmail && !(await isKnownNetwork(trx, accountId, ip, now));
}

/**
 * All browsers with device cookies together have a limit, too, so that a former user with many such cookies can't go on
 * guessing.
 */
function isDeviceThrottled([ofBrowser = 0, ofBrowsers = 0]: readonly number[]): boolean {
  return ofBrowser > loginFailuresMax.perBrowser || ofBrowsers > loginFailuresMax.perEmailFromKnownBrowsers;
}

/** Checks the password of a counted attempt. A check that fails with an error is not counted. @throws 503 */
export async function verifyCountedPassword(
  { database }: Pick<Runtime, 'database'>,
  attempt: PasswordAttempt,
  password: string,
  hash: string | null | undefined,
): Promise<boolean> {
  try {
    return await checkPassword(password, hash);
  } catch (error) {
    await database.transaction((trx) => refundPasswordAttempt(trx, attempt));
    throw error;
  }
}

/** Takes an attempt out of the counts, because its password was right or could not be checked. */
export function refundPasswordAttempt(trx: Transaction, attempt: PasswordAttempt): Promise<void> {
  return decrementCounters(trx, attempt.subjects, attempt.windowStart);
}
