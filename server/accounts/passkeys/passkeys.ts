import type { PasskeyAttestation } from '#contract/account.ts';
import { findAccount, lockAccount, parseName, userHandle } from '#server/accounts/account/account.ts';
import { passkeyChallengeMs, passkeysPerAccountMax } from '#server/accounts/limits.ts';
import {
  type CurrentPasswordInput,
  findCurrentSession,
  requireReauthentication,
  signedOutError,
} from '#server/accounts/passwords/reauthentication.ts';
import { findAccountSession } from '#server/accounts/sessions/session.ts';
import { recordAudit } from '#server/audit/audit.ts';
import { query, transactionQuery } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { SignedIn } from '#server/http/route.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict, invalid, notFound } from '#server/platform/app-error.ts';
import { sha256 } from '#server/platform/crypto.ts';
import { type AccountId, type PasskeyId, publicId } from '#server/platform/ids.ts';
import {
  type Credential,
  challengeOf,
  registrationOptions,
  relyingParty,
  signInOptions,
  userVerificationHint,
  verifyRegistration,
} from './passkey-ceremony.ts';

export interface PasskeyRow extends Credential {
  readonly id: PasskeyId;
  readonly account_id: AccountId;
  readonly name: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

const columns =
  'id, account_id, credential_id, public_key, counter, transports, name, created_at, last_used_at';

/** Inserts a passkey. @returns undefined if the passkey is registered already, for any account */
const insertPasskey = query<Omit<PasskeyRow, 'last_used_at'>, PasskeyRow>(
  'passkeys.insert',
  `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, name, created_at)
   VALUES (:id, :account_id, :credential_id, :public_key, :counter, :transports, :name, :created_at)
   ON CONFLICT (credential_id) DO NOTHING RETURNING ${columns}`,
).row;

export const findPasskeyByCredential = query<{ credentialId: Buffer }, PasskeyRow>(
  'passkeys.find-by-credential',
  `SELECT ${columns} FROM passkeys WHERE credential_id = :credentialId`,
).row;

export const listPasskeys = query<{ accountId: AccountId }, PasskeyRow>(
  'passkeys.list',
  `SELECT ${columns} FROM passkeys WHERE account_id = :accountId ORDER BY id`,
).rows;

/**
 * Records a use of a passkey. The signature counter must have grown, unless it is always 0: an equal or lower one
 * reveals a copy of the passkey.
 * @returns false if the counter did not grow, or the passkey was removed meanwhile
 */
export const recordPasskeyUse = query<{ passkeyId: PasskeyId; counter: number; at: Date }>(
  'passkeys.record-use',
  `UPDATE passkeys SET counter = :counter, last_used_at = :at
   WHERE id = :passkeyId AND (counter < :counter OR (counter = 0 AND :counter = 0)) RETURNING id`,
).hasRow;

interface PasskeyIds {
  readonly accountId: AccountId;
  readonly passkeyId: PasskeyId;
}

/** Renames a passkey. @returns undefined if the account has no such passkey */
const setPasskeyName = query<PasskeyIds & { name: string }, PasskeyRow>(
  'passkeys.rename',
  `UPDATE passkeys SET name = :name WHERE account_id = :accountId AND id = :passkeyId RETURNING ${columns}`,
).row;

/** Deletes a passkey. @returns the deleted row; undefined if the account has no such passkey */
const deletePasskey = query<PasskeyIds, PasskeyRow>(
  'passkeys.remove',
  `DELETE FROM passkeys WHERE account_id = :accountId AND id = :passkeyId RETURNING ${columns}`,
).row;

/** Deletes all passkeys of an account that the caller has locked. @returns the number of deleted passkeys */
export const deletePasskeys = transactionQuery<{ accountId: AccountId }>(
  'passkeys.delete-all',
  `DELETE FROM passkeys WHERE id IN (SELECT id FROM passkeys WHERE account_id = :accountId ORDER BY id FOR UPDATE)
   RETURNING id`,
).count;

interface Challenge {
  readonly challengeHash: Buffer;
  /** The account that adds a passkey; null for a sign-in. */
  readonly accountId: AccountId | null;
}

export const insertChallenge = query<Challenge & { expiresAt: Date }>(
  'passkey-challenges.insert',
  `INSERT INTO passkey_challenges (challenge_hash, account_id, expires_at) VALUES (:challengeHash, :accountId, :expiresAt)`,
).run;

/** Deletes a challenge, even for an invalid answer. @returns false for a used, expired or unknown challenge */
const consumeChallenge = query<Challenge & { now: Date }>(
  'passkey-challenges.consume',
  `WITH consumed AS (
     DELETE FROM passkey_challenges
     WHERE challenge_hash = :challengeHash AND account_id IS NOT DISTINCT FROM :accountId::uuid RETURNING expires_at
   )
   SELECT FROM consumed WHERE expires_at > :now`,
).hasRow;

/** Creates a challenge and WebAuthn options for a new passkey. @throws 400 if APP_URL has no host name */
export async function startPasskeyRegistration(services: Runtime, accountId: AccountId) {
  const { database, config } = services;
  const party = relyingParty(config.appUrl);
  const account = await findAccount(database.pool, { accountId });
  if (!account) throw notFound('account');
  const user = { id: Uint8Array.from(userHandle(accountId)), email: account.email, name: account.name };
  const present = await listPasskeys(database.pool, { accountId });
  const options = await registrationOptions(party, user, present);
  await storeChallenge(services, options.challenge, accountId);
  return options;
}

/**
 * Adds a passkey to an account, after a recent sign-in or with the present password (specification section 12.2).
 * @throws 400 for the name, for an answer that is invalid or without user verification, and if APP_URL has no host
 * name; 409 if the passkey exists already or the account has too many
 */
export async function finishPasskeyRegistration(
  services: Runtime,
  signedIn: SignedIn,
  by: AuditActor,
  input: CurrentPasswordInput & { readonly name: string; readonly response: PasskeyAttestation },
): Promise<PasskeyRow> {
  const { database, clock, ids, config } = services;
  const { accountId } = signedIn;
  const party = relyingParty(config.appUrl);
  const name = parseName(input.name);
  const { response } = input.response;
  const present = await findCurrentSession(services, signedIn);
  await requireReauthentication(services, present, input);
  const challenge = challengeOf(response);
  const isOurs = challenge !== undefined && (await useChallenge(services, challenge, accountId));
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
    await lockAccount(trx, { accountId });
    // The session may have ended since the check above, for example by a sign-out everywhere.
    if (!(await findAccountSession(trx, { ...signedIn, now: clock.expiryNow() }))) throw signedOutError();
    if ((await listPasskeys(trx, { accountId })).length >= passkeysPerAccountMax) {
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

/**
 * Creates a challenge for a sign-in by passkey, and the WebAuthn options for the browser (specification section 12.2).
 * @throws 400 if APP_URL has no host name
 */
export async function startPasskeySignIn(services: Runtime) {
  const options = await signInOptions(relyingParty(services.config.appUrl));
  await storeChallenge(services, options.challenge, null);
  return options;
}

/** @param accountId the account that adds a passkey; null for a sign-in */
function storeChallenge({ database, clock }: Runtime, challenge: string, accountId: AccountId | null) {
  const expiresAt = clock.in(passkeyChallengeMs);
  return insertChallenge(database.pool, { challengeHash: sha256(challenge), accountId, expiresAt });
}

/** Uses a challenge up, even for an invalid answer. @returns false for a used, expired or unknown challenge */
export function useChallenge({ database, clock }: Runtime, challenge: string, accountId: AccountId | null) {
  const now = clock.expiryNow();
  return consumeChallenge(database.pool, { challengeHash: sha256(challenge), accountId, now });
}

/** Renames a passkey. @throws 400 for the name; 404 if the account has no such passkey */
export function renamePasskey(
  services: Runtime,
  { accountId, passkeyId }: PasskeyIds,
  by: AuditActor,
  text: string,
): Promise<PasskeyRow> {
  const name = parseName(text);
  return services.database.transaction(async (trx) => {
    const passkey = await setPasskeyName(trx, { accountId, passkeyId, name });
    if (!passkey) throw notFound('passkey');
    await recordAudit(trx, services, {
      by,
      action: 'account.passkey_renamed',
      accountId,
      target: publicId('pky', passkey.id),
      details: { name },
    });
    return passkey;
  });
}

/** Removes a passkey. @throws 404 if the account has no such passkey */
export function removePasskey(services: Runtime, { accountId, passkeyId }: PasskeyIds, by: AuditActor) {
  return services.database.transaction(async (trx) => {
    const removed = await deletePasskey(trx, { accountId, passkeyId });
    if (!removed) throw notFound('passkey');
    await recordAudit(trx, services, {
      by,
      action: 'account.passkey_removed',
      accountId,
      target: publicId('pky', passkeyId),
      details: { name: removed.name },
    });
  });
}
