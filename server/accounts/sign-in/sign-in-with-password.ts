import { accountActor } from '#server/accounts/account/account-actor.ts';
import {
  type AccountRow,
  findAccountByEmail,
  lockAccountForShare,
} from '#server/accounts/account/account-store.ts';
import { parseEmail } from '#server/accounts/account/email.ts';
import { otherSignInHint } from '#server/accounts/account/sign-in-hints.ts';
import {
  type ClientInfo,
  createAccountSession,
  type SignInResult,
} from '#server/accounts/sessions/create-session.ts';
import { DeviceCookie } from '#server/accounts/sessions/device-cookie.ts';
import {
  countPasswordAttempt,
  refundPasswordAttempt,
  verifyCountedPassword,
} from '#server/accounts/throttling/login-throttle.ts';
import type { AuditRecord } from '#server/audit/record-audit.ts';
import type { RefusalLog } from '#server/audit/refusal-log.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly request: ClientInfo;
}

/**
 * Signs in by address and password (specification section 12.2). An unknown address costs the same statements and the
 * same password hash as a wrong password, and gets the same answer. The audit log records a wrong password for the
 * account; the answer does not wait for it.
 * @throws 400 for an invalid address; 401; 429 after too many failed attempts
 */
export async function signInWithPassword(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'> & {
    readonly refusals: Pick<RefusalLog, 'write'>;
  },
  { email: written, password, request }: Credentials,
): Promise<SignInResult> {
  const { database } = services;
  const email = parseEmail(written);
  const account = await findAccountByEmail(database.pool, email);
  const browser = account && new DeviceCookie(services).find(request, account);
  const attempt = await countPasswordAttempt(services, {
    email,
    ip: request.ip,
    accountId: account?.id,
    browser,
  });
  const isRight = await verifyCountedPassword(services, attempt, password, account?.password_hash);
  if (!account) throw refusal(services);
  if (!isRight) {
    services.refusals.write(wrongPassword(account, request));
    throw refusal(services);
  }
  return database.transaction(async (trx) => {
    // The password may have been changed since the check, which ended all sessions: no session may begin with the old
    // one.
    const present = await lockAccountForShare(trx, account.id);
    if (present?.password_hash !== account.password_hash) throw refusal(services);
    await refundPasswordAttempt(trx, attempt);
    return { account, cookies: await createAccountSession(trx, services, account, 'password', request) };
  });
}

function wrongPassword(account: AccountRow, request: ClientInfo): AuditRecord {
  return {
    by: accountActor(account, request),
    action: 'account.signed_in',
    accountId: account.id,
    details: { method: 'password' },
    refusedWith: 'unauthorized',
  };
}

function refusal({ config }: Pick<Runtime, 'config'>): AppError {
  return new AppError(
    'unauthorized',
    `The address or the password is wrong. Check both, or sign in with ${otherSignInHint(config)}.`,
  );
}
