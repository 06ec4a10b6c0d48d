import type { PasskeyAttestation } from '#contract/account.ts';
import { lockAccount } from '#server/accounts/account/account-store.ts';
import { parseName } from '#server/accounts/account/create-account.ts';
import { passkeysPerAccountMax } from '#server/accounts/limits.ts';
import {
  type CurrentPasswordInput,
  findCurrentSession,
  requireReauthentication,
  signedOutError,
} from '#server/accounts/passwords/reauthentication.ts';
import { findAccountSession } from '#server/accounts/sessions/session-store.ts';
import { recordAudit } from '#server/audit/record-audit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict, invalid } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import type { SignedIn } from '#server/platform/http/route.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { challengeOf, userVerificationHint, verifyRegistration } from './passkey-ceremony.ts';
import { consumeChallenge } from './passkey-challenge-store.ts';
import { insertPasskey, listPasskeys, type PasskeyRow } from './passkey-store.ts';
import { relyingParty } from './relying-party.ts';

/**
 * Adds a passkey to an account, after a recent sign-in or with the present password (specification section 12.2).
 * @throws 400 for the name, for an answer that is invalid or without user verification, and if APP_URL has no host
 * name; 409 if the passkey exists already or the account has too many
 */
export async function finishPasskeyRegistration(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'config' | 'secrets'>,
  signedIn: SignedIn,
  by: AuditActor,
  input: CurrentPasswordInput & { readonly name: string; readonly response: PasskeyAttestation },
): Promise<PasskeyRow> {
  const { database, clock, ids, config } = services;
  const { accountId, sessionId } = signedIn;
  const party = relyingParty(config.appUrl);
  const name = parseName(input.name);
  const { response } = input.response;
  const present = await findCurrentSession(services, signedIn);
  await requireReauthentication(services, present, input);
  const challenge = challengeOf(response);
  const isOurs =
    challenge !== undefined &&
    (await consumeChallenge(database.pool, sha256(challenge), accountId, clock.expiryNow()));
  const made = isOurs ? await verifyRegistration(party, challenge, input.response) : undefined;
  if (!made) {
    throw invalid(
      'response',
      'The server could not verify this passkey, or the browser took too long. Add the passkey again.',
    );
  }
  if (!made.isUserVerified)
    throw invalid('response', `This passkey ${userVerificationHint}, then add the passkey again.`);
  return database.transaction(async (trx) => {
    await lockAccount(trx, accountId);
    // The session may have ended since the check above, for example by a sign-out everywhere.
    if (!(await findAccountSession(trx, accountId, sessionId, clock.expiryNow()))) throw signedOutError();
    if ((await listPasskeys(trx, accountId)).length >= passkeysPerAccountMax) {
      throw conflict(
        `This account has ${passkeysPerAccountMax} passkeys, the most that it may have. Remove one first.`,
      );
    }
    const passkey = await insertPasskey(trx, {
      id: ids.next('pky'),
      account_id: accountId,
      credential_id: made.credentialId,
      public_key: made.publicKey,
      counter: made.counter,
      transports: response.transports ?? [],
      name,
      created_at: clock.now(),
    });
    if (!passkey) throw conflict('This passkey was added already. Sign in with it.');
    await recordAudit(trx, services, {
      by,
      action: 'account.passkey_added',
      accountId,
      target: publicId('pky', passkey.id),
      details: { name },
    });
    return passkey;
  });
}
