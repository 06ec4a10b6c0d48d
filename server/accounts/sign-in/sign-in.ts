import type { PasskeyAssertion } from '#contract/account.ts';
import {
  accountActor,
  findAccount,
  findAccountByEmail,
  lockAccount,
  lockAccountForShare,
  magicLinkHint,
  otherSignInHint,
  parseEmail,
  userHandle,
} from '#server/accounts/account/account.ts';
import { consumeMagicLink, findMagicLinkAccount } from '#server/accounts/magic-links/magic-link.ts';
import {
  challengeOf,
  relyingParty,
  userVerificationHint,
  verifySignIn,
} from '#server/accounts/passkeys/passkey-ceremony.ts';
import {
  findPasskeyByCredential,
  recordPasskeyUse,
  useChallenge,
} from '#server/accounts/passkeys/passkeys.ts';
import { DeviceCookie } from '#server/accounts/sessions/cookies.ts';
import {
  type ClientInfo,
  createAccountSession,
  type SignInResult,
} from '#server/accounts/sessions/session.ts';
import { decrementCounters, tryPassword } from '#server/accounts/throttling/throttle.ts';
import type { RefusalLog } from '#server/audit/refusal-log.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { verifyEmail } from './verify-email.ts';

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
  services: Runtime & { readonly refusals: Pick<RefusalLog, 'write'> },
  { email: written, password, request }: Credentials,
): Promise<SignInResult> {
  const { database } = services;
  const email = parseEmail(written);
  const account = await findAccountByEmail(database.pool, email);
  const browser = account && new DeviceCookie(services).find(request, account);
  const who = { email, ip: request.ip, accountId: account?.id, browser };
  const attempt = await tryPassword(services, who, password, account?.password_hash);
  if (!account) throw wrongPasswordError(services);
  if (!attempt) {
    services.refusals.write({
      by: accountActor(account, request),
      action: 'account.signed_in',
      accountId: account.id,
      details: { method: 'password' },
      refusedWith: 'unauthorized',
    });
    throw wrongPasswordError(services);
  }
  return database.transaction(async (trx) => {
    // A change of the password since the check has ended all sessions. So no session may begin with the old password.
    const present = await lockAccountForShare(trx, { accountId: account.id });
    if (present?.password_hash !== account.password_hash) throw wrongPasswordError(services);
    await decrementCounters(trx, attempt);
    return { account, cookies: await createAccountSession(trx, services, account, 'password', request) };
  });
}

function wrongPasswordError({ config }: Runtime): AppError {
  return new AppError(
    'unauthorized',
    `The address or the password is wrong. Check both, or sign in with ${otherSignInHint(config)}.`,
  );
}

/**
 * Signs in by a passkey, which identifies its account (specification section 12.2). The challenge is used up first,
 * whatever the result. A signature counter that did not grow reveals a copy of the passkey.
 * @throws 400 if APP_URL has no host name; 401 for every other failure, with the same text unless only user
 * verification is missing
 */
export async function signInWithPasskey(services: Runtime, answer: PasskeyAssertion, request: ClientInfo) {
  const { database, clock, config } = services;
  const party = relyingParty(config.appUrl);
  const challenge = challengeOf(answer.response);
  if (challenge === undefined || !(await useChallenge(services, challenge, null)))
    throw unknownPasskeyError(services);
  const credentialId = Buffer.from(answer.id, 'base64url');
  const passkey = await findPasskeyByCredential(database.pool, { credentialId });
  const account = passkey && (await findAccount(database.pool, { accountId: passkey.account_id }));
  if (!passkey || !account) throw unknownPasskeyError(services);
  if (!userHandle(account.id).equals(Buffer.from(answer.response.userHandle ?? '', 'base64url')))
    throw unknownPasskeyError(services);
  const signed = await verifySignIn(party, challenge, passkey, answer);
  if (!signed) throw unknownPasskeyError(services);
  if (!signed.isUserVerified) {
    throw new AppError(
      'unauthorized',
      `This passkey ${userVerificationHint}, or sign in with a password or ${magicLinkHint(config)}.`,
    );
  }
  return database.transaction(async (trx) => {
    if (!(await recordPasskeyUse(trx, { passkeyId: passkey.id, counter: signed.counter, at: clock.now() })))
      throw unknownPasskeyError(services);
    return { account, cookies: await createAccountSession(trx, services, account, 'passkey', request) };
  });
}

function unknownPasskeyError({ config }: Runtime): AppError {
  return new AppError(
    'unauthorized',
    `The server does not know this passkey, or the browser took too long. Try again, or sign in with a password or ${magicLinkHint(config)}.`,
  );
}

/**
 * Signs in by a magic link and uses it up: one of several concurrent clicks succeeds (specification section 12.2). The
 * link was mailed to the address or made by the operator, so it verifies the address. The account is locked before the
 * link, in the order of docs/internals/locks.md.
 * @returns undefined for a used, expired or unknown link
 */
export function useMagicLink(services: Runtime, token: string, request: ClientInfo) {
  return services.database.transaction(async (trx) => {
    const link = { tokenHash: sha256(token), now: services.clock.expiryNow() };
    const whose = await findMagicLinkAccount(trx, link);
    const account = whose && (await lockAccount(trx, { accountId: whose.id }));
    if (!account || !(await consumeMagicLink(trx, link))) return undefined;
    const by = accountActor(account, request);
    await verifyEmail(trx, services, account, by, null);
    return { account, cookies: await createAccountSession(trx, services, account, 'link', request) };
  });
}
