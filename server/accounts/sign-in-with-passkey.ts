import type { PasskeyAssertion } from '#contract/account.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { accountHandle } from './account-handle.ts';
import { findAccount } from './account-store.ts';
import { type Entered, type Entrance, openSession } from './open-session.ts';
import { aLink } from './other-ways.ts';
import { challengeOf, verifySignIn } from './passkey-ceremony.ts';
import { takeChallenge } from './passkey-challenge-store.ts';
import { passkeyParty } from './passkey-party.ts';
import { findPasskeyByCredential, usePasskey } from './passkey-store.ts';

/**
 * Signs in by a passkey, which finds its account by itself (specification section 12.2). The challenge is used up first,
 * whatever becomes of it; a counter that did not grow betrays a copy.
 * @throws 400 where APP_URL has no name; 401, the same for all that can be wrong
 */
export async function signInWithPasskey(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'>,
  answer: PasskeyAssertion,
  request: Entrance,
): Promise<Entered> {
  const { database, clock, config } = services;
  const party = passkeyParty(config.appUrl);
  const challenge = challengeOf(answer.response);
  const isOurs =
    challenge !== undefined &&
    (await takeChallenge(database.pool, sha256(challenge), undefined, clock.expiryNow()));
  if (!isOurs) throw refusal(services);
  const passkey = await findPasskeyByCredential(database.pool, Buffer.from(answer.id, 'base64url'));
  const account = passkey && (await findAccount(database.pool, passkey.account_id));
  if (!passkey || !account) throw refusal(services);
  if (!accountHandle(account.id).equals(Buffer.from(answer.response.userHandle ?? '', 'base64url')))
    throw refusal(services);
  const counter = await verifySignIn(party, challenge, passkey, answer);
  if (counter === undefined) throw refusal(services);
  return database.transaction(async (trx) => {
    if (!(await usePasskey(trx, passkey.id, counter, clock.now()))) throw refusal(services);
    return { account, cookies: await openSession(trx, services, account, 'passkey', request) };
  });
}

function refusal({ config }: Pick<Runtime, 'config'>): AppError {
  return new AppError(
    'unauthorized',
    `This passkey is not known here, or took too long. Try again, or sign in with a password or ${aLink(config)}.`,
  );
}
