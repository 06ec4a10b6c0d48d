import type { PasskeyAssertion } from '#contract/account.ts';
import { findAccount } from '#server/accounts/account/account-store.ts';
import { magicLinkHint } from '#server/accounts/account/sign-in-hints.ts';
import { userHandle } from '#server/accounts/account/user-handle.ts';
import {
  challengeOf,
  userVerificationHint,
  verifySignIn,
} from '#server/accounts/passkeys/passkey-ceremony.ts';
import { consumeChallenge } from '#server/accounts/passkeys/passkey-challenge-store.ts';
import { findPasskeyByCredential, recordPasskeyUse } from '#server/accounts/passkeys/passkey-store.ts';
import { relyingParty } from '#server/accounts/passkeys/relying-party.ts';
import {
  type ClientInfo,
  createAccountSession,
  type SignInResult,
} from '#server/accounts/sessions/create-session.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';

/**
 * Signs in by a passkey, which identifies its account (specification section 12.2). The challenge is used up first,
 * whatever the result. A signature counter that did not grow reveals a copy of the passkey.
 * @throws 400 if APP_URL has no host name; 401 for every other failure, with a text of its own only for a missing user
 * verification
 */
export async function signInWithPasskey(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'>,
  answer: PasskeyAssertion,
  request: ClientInfo,
): Promise<SignInResult> {
  const { database, clock, config } = services;
  const party = relyingParty(config.appUrl);
  const challenge = challengeOf(answer.response);
  const isOurs =
    challenge !== undefined &&
    (await consumeChallenge(database.pool, sha256(challenge), undefined, clock.expiryNow()));
  if (!isOurs) throw refusal(services);
  const passkey = await findPasskeyByCredential(database.pool, Buffer.from(answer.id, 'base64url'));
  const account = passkey && (await findAccount(database.pool, passkey.account_id));
  if (!passkey || !account) throw refusal(services);
  if (!userHandle(account.id).equals(Buffer.from(answer.response.userHandle ?? '', 'base64url')))
    throw refusal(services);
  const signed = await verifySignIn(party, challenge, passkey, answer);
  if (!signed) throw refusal(services);
  if (!signed.isUserVerified) {
    throw new AppError(
      'unauthorized',
      `This passkey ${userVerificationHint}, or sign in with a password or ${magicLinkHint(config)}.`,
    );
  }
  return database.transaction(async (trx) => {
    if (!(await recordPasskeyUse(trx, passkey.id, signed.counter, clock.now()))) throw refusal(services);
    return { account, cookies: await createAccountSession(trx, services, account, 'passkey', request) };
  });
}

function refusal({ config }: Pick<Runtime, 'config'>): AppError {
  return new AppError(
    'unauthorized',
    `The server does not know this passkey, or the browser took too long. Try again, or sign in with a password or ${magicLinkHint(config)}.`,
  );
}
