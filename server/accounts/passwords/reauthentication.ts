import { type AccountRow, findAccount } from '#server/accounts/account/account.ts';
import { recentSignInMs } from '#server/accounts/limits.ts';
import { DeviceCookie } from '#server/accounts/sessions/cookies.ts';
import {
  type AccountSessionRow,
  type ClientInfo,
  findAccountSession,
} from '#server/accounts/sessions/session.ts';
import { decrementCounters, tryPassword } from '#server/accounts/throttling/throttle.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SignedIn } from '#server/http/route.ts';
import { AppError, forbidden, invalid } from '#server/platform/app-error.ts';

/** The present password as the caller entered it, with the request that carries it. */
export interface CurrentPasswordInput {
  readonly request: Pick<ClientInfo, 'ip' | 'headers'>;
  readonly currentPassword: string | undefined;
}

/** The signed-in account, with the session of the request. */
export interface CurrentSession {
  readonly account: AccountRow;
  readonly session: AccountSessionRow;
}

/** Finds the signed-in account and its session. @throws 401 if the session has ended meanwhile */
export async function findCurrentSession({ database, clock }: Runtime, signedIn: SignedIn) {
  const account = await findAccount(database.pool, signedIn);
  const session = await findAccountSession(database.pool, { ...signedIn, now: clock.expiryNow() });
  if (!account || !session) throw signedOutError();
  return { account, session };
}

/** Whether the session began less than 15 minutes ago. */
export function isRecentSignIn({ clock }: Runtime, { session }: CurrentSession): boolean {
  return clock.nowMs() - session.created_at.getTime() < recentSignInMs;
}

/**
 * Reauthentication: before an account gets another way to sign in, the person must have signed in recently or enter the
 * present password. A stolen session therefore gives no lasting access (specification section 12.2).
 * @throws 400, param current_password; 403 for an old sign-in of an account without a password; 429
 */
export async function requireReauthentication(
  services: Runtime,
  present: CurrentSession,
  given: CurrentPasswordInput,
): Promise<void> {
  if (isRecentSignIn(services, present)) return;
  if (present.account.password_hash === null) {
    throw forbidden(
      'You signed in more than 15 minutes ago, too long for this change. Sign in again, then repeat the change.',
    );
  }
  await requirePassword(services, present, given, 'sign in again and repeat the change within 15 minutes.');
}

/**
 * Checks the present password. The login throttle counts wrong ones like those of a sign-in; a browser with a device
 * cookie of the account is counted apart.
 * @param instead the end of the error's text: another way for the caller
 * @throws 400, param current_password, if the password is missing or wrong; 429
 */
export async function requirePassword(
  services: Runtime,
  { account }: CurrentSession,
  { request, currentPassword }: CurrentPasswordInput,
  instead: string,
): Promise<void> {
  const { email, id: accountId, password_hash: hash } = account;
  if (currentPassword === undefined) {
    throw invalid('current_password', `Send your current password as current_password, or ${instead}`);
  }
  const browser = new DeviceCookie(services).find(request, account);
  const who = { email, ip: request.ip, accountId, browser };
  const attempt = await tryPassword(services, who, currentPassword, hash);
  if (!attempt)
    throw invalid('current_password', `This is not your current password. If you forgot it, ${instead}`);
  await services.database.transaction((trx) => decrementCounters(trx, attempt));
}

export function signedOutError(): AppError {
  return new AppError('unauthorized', 'Your session has ended. Sign in, and try again.');
}
