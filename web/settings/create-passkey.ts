/*
 * WebAuthn's JSON and the browser's bytes, by hand: what browsers bring for this is missing in those of before 2025.
 */

interface OptionsJson {
  readonly challenge: string;
  readonly user: { readonly id: string };
  readonly excludeCredentials?: readonly { readonly id: string }[];
}

/** Why the browser made no passkey, in a sentence for the person. */
class NoPasskeyError extends Error {
  override readonly name = 'NoPasskeyError';
}

/** Browsers offer passkeys to secure pages only: on https, and on http://localhost. */
export const canMakePasskeys = typeof PublicKeyCredential === 'function';

/**
 * Has the browser make a passkey.
 * @param options of `POST /app/account/passkeys/options`
 * @returns the field `response` of `POST /app/account/passkeys`
 * @throws NoPasskeyError where the person closed the browser's question, or the device has one already
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
  const isKnown = error instanceof DOMException && error.name === 'InvalidStateError';
  if (isKnown) return 'This device has a passkey for your account already. Sign in with that one.';
  return 'No passkey was made: the question of your browser was closed, or took too long. Try it again.';
}

function bytesOf(base64Url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64Url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function textOf(bytes: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
