import { findAccount } from '#server/accounts/account/account-store.ts';
import { userHandle } from '#server/accounts/account/user-handle.ts';
import { passkeyChallengeMs } from '#server/accounts/limits.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { notFound } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { AccountId } from '#server/platform/ids/ids.ts';
import { registrationOptions } from './passkey-ceremony.ts';
import { insertChallenge } from './passkey-challenge-store.ts';
import { listPasskeys } from './passkey-store.ts';
import { relyingParty } from './relying-party.ts';

/** Creates a challenge and WebAuthn options for a new passkey. @throws 400 where APP_URL has no host name */
export async function startPasskeyRegistration(
  { database, clock, config }: Pick<Runtime, 'database' | 'clock' | 'config'>,
  accountId: AccountId,
) {
  const party = relyingParty(config.appUrl);
  const account = await findAccount(database.pool, accountId);
  if (!account) throw notFound('account');
  const user = { id: Uint8Array.from(userHandle(accountId)), email: account.email, name: account.name };
  const present = await listPasskeys(database.pool, accountId);
  const options = await registrationOptions(party, user, present);
  await insertChallenge(database.pool, sha256(options.challenge), accountId, clock.in(passkeyChallengeMs));
  return options;
}
