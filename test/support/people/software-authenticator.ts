import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** The options of `navigator.credentials.create` that this authenticator reads. */
export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

/** The options of `navigator.credentials.get` that this authenticator reads. */
export interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

/** Deliberate faults of the authenticator's answer. */
interface Override {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  /** Replaces the signature counter. */
  readonly counter?: number;
  /** Flags of the authenticator data; by default user present and verified. */
  readonly flags?: number;
  /** Replaces the user handle. */
  readonly userHandle?: string;
  /** Replaces the attestation format `none` and its empty statement. */
  readonly statement?: { readonly format: string; readonly fields: ReadonlyMap<string, unknown> };
  /** Signs the attestation statement with the passkey itself. */
  readonly selfSigned?: boolean;
}

const userPresent = 0x01;
const userVerified = 0x04;
const attested = 0x40;

/**
 * An authenticator and its browser, in software. It makes one passkey (ES256, statement `none`) and signs with it.
 * The bytes follow sections 6.1 and 6.5 of WebAuthn.
 */
export class SoftwareAuthenticator {
  readonly #origin: string;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #counts: boolean;
  readonly credentialId = randomBytes(32);
  #userHandle = '';
  #counter = 0;

  /**
   * Makes an authenticator. @param origin of the browser's page @param counts false for authenticators whose counter is
   * always 0
   */
  constructor(origin: string, { counts = true } = {}) {
    this.#origin = origin;
    this.#counts = counts;
  }

  /** Makes the browser's response to the registration of a passkey. */
  create(options: CreationOptions, override: Override = {}) {
    this.#userHandle = options.user.id;
    const clientData = this.#clientData('webauthn.create', options.challenge, override);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.credentialId.length);
    const key = coseKey(this.#keys.publicKey);
    const data = Buffer.concat([
      this.#authenticatorData(
        options.rp.id,
        (override.flags ?? userPresent | userVerified) | attested,
        override,
      ),
      ...[Buffer.alloc(16), length, this.credentialId, key],
    ]);
    const { format = 'none', fields = new Map() } = override.selfSigned
      ? {
          format: 'packed',
          fields: new Map<string, unknown>([
            ['alg', -7],
            ['sig', this.#sign(data, clientData)],
          ]),
        }
      : (override.statement ?? {});
    const parts = { fmt: format, attStmt: fields, authData: data };
    const object = cbor(new Map(Object.entries(parts)));
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: clientData.toString('base64url'),
        attestationObject: object.toString('base64url'),
        transports: ['internal'],
      },
    };
  }

  /** Makes the browser's response to a sign-in. */
  get(options: RequestOptions, override: Override = {}) {
    const clientData = this.#clientData('webauthn.get', options.challenge, override);
    const data = this.#authenticatorData(
      options.rpId,
      override.flags ?? userPresent | userVerified,
      override,
    );
    return {
      ...this.#credential(),
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: this.#sign(data, clientData).toString('base64url'),
        userHandle: override.userHandle ?? this.#userHandle,
      },
    };
  }

  #sign(data: Buffer, clientData: Buffer): Buffer {
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()]);
    return sign('sha256', signed, this.#keys.privateKey);
  }

  #credential() {
    const id = this.credentialId.toString('base64url');
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {} };
  }

  #clientData(type: string, challenge: string, override: Override): Buffer {
    const { origin = this.#origin } = override;
    const data = { type: override.type ?? type, challenge: override.challenge ?? challenge, origin };
    return Buffer.from(JSON.stringify({ ...data, crossOrigin: false }));
  }

  #authenticatorData(rpId: string, flags: number, override: Override): Buffer {
    if (this.#counts) this.#counter += 1;
    const rest = Buffer.alloc(5);
    rest.writeUInt8(flags);
    rest.writeUInt32BE(override.counter ?? this.#counter, 1);
    return Buffer.concat([
      createHash('sha256')
        .update(override.rpId ?? rpId)
        .digest(),
      rest,
    ]);
  }
}

/** Encodes a P-256 public key in COSE. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return cbor(
    new Map<unknown, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]),
  );
}

/** Encodes the few types of CBOR that an authenticator writes. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  if (value instanceof Map) {
    return Buffer.concat([
      head(5, value.size),
      ...[...value].flatMap(([key, part]) => [cbor(key), cbor(part)]),
    ]);
  }
  throw new Error(`no CBOR for ${typeof value}`);
}

function head(major: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(major << 5) | size]);
  if (size < 256) return Buffer.from([(major << 5) | 24, size]);
  return Buffer.from([(major << 5) | 25, size >> 8, size & 255]);
}
