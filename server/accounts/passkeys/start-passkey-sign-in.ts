import { passkeyChallengeMs } from '#server/accounts/limits.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { signInOptions } from './passkey-ceremony.ts';
import { insertChallenge } from './passkey-challenge-store.ts';
import { relyingParty } from './relying-party.ts';

/**
 * Creates a challenge for a sign-in by passkey, and the WebAuthn options for the browser (specification section 12.2).
 * @throws 400 where APP_URL has no host name
 */
export async function startPasskeySignIn({
  database,
  clock,
  config,
}: Pick<Runtime, 'database' | 'clock' | 'config'>) {
  const options = await signInOptions(relyingParty(config.appUrl));
  await insertChallenge(database.pool, sha256(options.challenge), undefined, clock.in(passkeyChallengeMs));
  return options;
}
