import { texts } from './texts.ts';

/* The JSON form of WebAuthn's options, converted by hand because browsers before 2025 have no function for it. */

interface OptionsJson {
  readonly challenge: string;
  readonly user: { readonly id: string };
  readonly excludeCredentials?: readonly { readonly id: string }[];
}

/** The reason why the browser created no passkey, as a sentence for the person. */
class NoPasskeyError extends Error {
  override readonly name = 'NoPasskeyError';
}

/** Browsers offer passkeys only to https pages and to http://localhost. */
export const canMakePasskeys = typeof PublicKeyCredential === 'function';

/**
 * Creates a passkey in the browser.
 * @param options of `POST /app/account/passkeys/options`
 * @returns the field `response` of `POST /app/account/passkeys`
 * @throws NoPasskeyError if the person closed the browser's dialog, or the device has a passkey already
 */
export async function createPasskey(options: Record<string, unknown>): Promise<object> {
  const { challenge, user, excludeCredentials = [] } = options as unknown as OptionsJson;
  const publicKey = {
    ...options,
    challenge: bytesOf(challenge),
    user: { ...user, id: bytesOf(user.id) },
    excludeCredentials: excludeCredentials.map((one) => ({ ...one, id: bytesOf(one.id) })),
  } as unknown as PublicKeyCredentialCreationOptions;
  const credential = await navigator.credentials.create({ publicKey }).catch((error: unknown) => {
    throw new NoPasskeyError(reasonOf(error));
  });
  if (!(credential instanceof PublicKeyCredential)) throw new NoPasskeyError(reasonOf(undefined));
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    id: credential.id,
    rawId: textOf(credential.rawId),
    type: credential.type,
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

function reasonOf(error: unknown): string {
  const name = error instanceof DOMException ? error.name : undefined;
  if (name === 'ConstraintError') return texts.passkeys.notVerified;
  if (name === 'InvalidStateError') return texts.passkeys.exists;
  return texts.passkeys.notMade;
}

function bytesOf(base64Url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64Url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function textOf(bytes: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
