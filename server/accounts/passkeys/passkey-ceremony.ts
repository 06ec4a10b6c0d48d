import type { PasskeyAssertion, PasskeyAttestation } from '#contract/account.ts';
import { supportsPasskeys } from '#server/accounts/account/account.ts';
import { passkeyChallengeMs } from '#server/accounts/limits.ts';
import { AppError } from '#server/platform/app-error.ts';

/** A passkey, as far as a ceremony needs it. */
export interface Credential {
  readonly credential_id: Buffer;
  /** The public key in COSE encoding. */
  readonly public_key: Buffer;
  /** The signature counter of the passkey at its last use; always 0 for passkeys that do not count. */
  readonly counter: number;
  readonly transports: string[];
}

/** Relying party of WebAuthn: the name and origin that passkeys are bound to. */
interface RelyingParty {
  /** The host name of APP_URL (WebAuthn's RP ID). */
  readonly id: string;
  /** The origin of the pages that may request passkeys. */
  readonly origin: string;
}

/** @throws 400 if APP_URL has an IP address instead of a host name, because browsers bind passkeys to names */
export function relyingParty(appUrl: string): RelyingParty {
  const { hostname, origin } = new URL(appUrl);
  if (!supportsPasskeys(appUrl)) {
    throw new AppError(
      'invalid_request',
      'Passkeys need a domain name in APP_URL: browsers do not bind them to an IP address. Set APP_URL to a domain, or to http://localhost on this machine. Until then sign in with a password or a link.',
    );
  }
  return { id: hostname, origin };
}

/**
 * EdDSA, ES256 and RS256: every authenticator supports one of these algorithms. The library's default list adds an
 * experimental algorithm of Node, for which Node prints a warning.
 */
const algorithms = [-8, -7, -257];

/** The longest credential id that WebAuthn allows. */
const idMaxBytes = 1_023;
const keyMaxBytes = 2_048;

/** The middle of an error about an answer without user verification. The caller adds the start and the end. */
export const userVerificationHint =
  'did not verify you. Set up a PIN, fingerprint or face on the device or security key';

/** The library takes 30 MB and 0.2 s to load, so it is loaded when a passkey is first used. */
const library = () => import('@simplewebauthn/server');

/** WebAuthn options for a sign-in with any passkey that the browser holds for this server. */
export async function signInOptions(party: RelyingParty) {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: party.id,
    timeout: passkeyChallengeMs,
    userVerification: 'required',
  });
}

/**
 * WebAuthn options for a new discoverable passkey, which signs in without an address.
 * @param user `id`, the account's id as bytes, comes back with each sign-in
 * @param present the account's passkeys: an authenticator that has one of them creates no second passkey
 */
export async function registrationOptions(
  party: RelyingParty,
  user: { readonly id: Uint8Array<ArrayBuffer>; readonly email: string; readonly name: string },
  present: readonly Credential[],
) {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpID: party.id,
    rpName: 'Ownline',
    userID: user.id,
    userName: user.email,
    userDisplayName: user.name,
    timeout: passkeyChallengeMs,
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
    excludeCredentials: present.map(({ credential_id, transports }) => ({
      id: credential_id.toString('base64url'),
      transports,
    })),
  });
}

/** Reads the challenge from the browser's answer, without verifying it. @returns undefined for unreadable data */
export function challengeOf({ clientDataJSON }: { readonly clientDataJSON: string }): string | undefined {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
    const isObject = typeof data === 'object' && data !== null && 'challenge' in data;
    return isObject && typeof data.challenge === 'string' ? data.challenge : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Verifies that the passkey signed this challenge for this relying party, with a person present. The caller decides on
 * user verification, because its absence from a valid answer has an error of its own.
 * @returns the passkey's new signature counter; undefined for an invalid answer
 */
export async function verifySignIn(
  party: RelyingParty,
  challenge: string,
  passkey: Credential,
  { id, rawId, type, response }: PasskeyAssertion,
): Promise<{ readonly counter: number; readonly isUserVerified: boolean } | undefined> {
  const { verifyAuthenticationResponse } = await library();
  const { clientDataJSON, authenticatorData, signature } = response;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...{ id, rawId, type, clientExtensionResults: {} },
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: {
        id,
        publicKey: Uint8Array.from(passkey.public_key),
        counter: passkey.counter,
        transports: passkey.transports,
      },
      requireUserVerification: false,
    });
    const { newCounter: counter, userVerified: isUserVerified } = authenticationInfo;
    return verified ? { counter, isUserVerified } : undefined;
  } catch {
    // The library throws for malformed and for forged answers.
    return undefined;
  }
}

/**
 * Verifies the browser's answer to the options for a new passkey, all but user verification, as `verifySignIn` does.
 * @returns undefined for an invalid answer
 */
export async function verifyRegistration(
  party: RelyingParty,
  challenge: string,
  { id, rawId, type, response }: PasskeyAttestation,
) {
  const { verifyRegistrationResponse } = await library();
  const { clientDataJSON, attestationObject } = response;
  try {
    if (!(await isSelfAttested(attestationObject))) return undefined;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...{ id, rawId, type, clientExtensionResults: {} },
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified) return undefined;
    const { credential, userVerified: isUserVerified } = registrationInfo;
    const { id: credentialId, publicKey, counter } = credential;
    const passkey = {
      credentialId: Buffer.from(credentialId, 'base64url'),
      publicKey: Buffer.from(publicKey),
      counter,
      isUserVerified,
    };
    const isSmall = passkey.credentialId.length <= idMaxBytes && passkey.publicKey.length <= keyMaxBytes;
    return isSmall ? passkey : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a registration has no attestation or a self attestation; the options request none. An attestation with
 * certificates is refused unread: the library would fetch revocation lists from URLs in it.
 */
async function isSelfAttested(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const decoded = decodeAttestationObject(Uint8Array.from(Buffer.from(attestationObject, 'base64url')));
  const format = decoded.get('fmt');
  return format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined);
}
