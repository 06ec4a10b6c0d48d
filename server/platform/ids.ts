import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';
import type { Clock } from '#server/platform/time/clock.ts';

/**
 * TypeIDs, specification version 0.3.0 (https://github.com/jetify-com/typeid): a prefix, `_`, and Crockford's base32 of
 * two zero bits and 128 bits. It is in lower case, without i, l, o and u.
 */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const hexDigits = '0123456789abcdef';

/** Two characters for each value of ten bits, in a table because computing them would be the slowest part. */
const pairs = Array.from({ length: 1_024 }, (_, bits) => `${alphabet[bits >> 5]}${alphabet[bits & 31]}`);

/** Values of the digits by character code; 255 for all other characters. */
function valuesOf(digits: string): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => {
    const value = digits.indexOf(String.fromCharCode(code));
    return value < 0 ? 255 : value;
  });
}
const valueOfHex = valuesOf(hexDigits);
const valueOfCharacter = valuesOf(alphabet);

const dash = '-'.charCodeAt(0);

/** Formats a UUID, written as in PostgreSQL, as a TypeID such as `msg_01h455vb4pex5vsknk084sn02q`. */
export function typeIdOfUuid(prefix: string, uuid: string): string {
  let text = `${prefix}_`;
  let bits = 0;
  let count = 2;
  for (let at = 0; at < uuid.length; at += 1) {
    const code = uuid.charCodeAt(at);
    if (code === dash) continue;
    bits = (bits << 4) | (valueOfHex[code] ?? 0);
    count += 4;
    if (count < 10) continue;
    count -= 10;
    text += pairs[bits >> count];
    bits &= (1 << count) - 1;
  }
  return text;
}

/** @returns the UUID in lower case; undefined for any text but a TypeID with this prefix */
export function uuidOfTypeId(prefix: string, text: string): string | undefined {
  const start = prefix.length + 1;
  if (text.length !== start + 26 || !text.startsWith(prefix) || text[start - 1] !== '_') return undefined;
  let uuid = '';
  let bits = 0;
  // The first character has two zero bits and then three of the 128 bits, so the count begins at -2.
  let count = -2;
  for (let at = start; at < text.length; at += 1) {
    const value = valueOfCharacter[text.charCodeAt(at)] ?? 255;
    if (value === 255 || (at === start && value > 7)) return undefined;
    bits = (bits << 5) | value;
    count += 5;
    while (count >= 4) {
      count -= 4;
      uuid += hexDigits[bits >> count];
      bits &= (1 << count) - 1;
      if (uuid.length === 8 || uuid.length === 13 || uuid.length === 18 || uuid.length === 23) uuid += '-';
    }
  }
  return uuid;
}

/** The prefixes of public ids (specification section 2.1). */
export type IdPrefix =
  | 'team'
  | 'key'
  | 'num'
  | 'msg'
  | 'evt'
  | 'wh'
  | 'dlv'
  | 'att'
  | 'dev'
  | 'ses'
  | 'link'
  | 'req'
  | 'acc'
  | 'usr'
  | 'inv'
  | 'acs'
  | 'alk'
  | 'pky'
  | 'opt'
  | 'aud'
  | 'con'
  | 'cnv'
  | 'med'
  | 'mail';

/** A UUIDv7 as stored in the database, branded with its kind. The API shows it as a TypeID. */
export type Id<P extends IdPrefix> = string & { readonly prefix: P };
export type TeamId = Id<'team'>;
export type KeyId = Id<'key'>;
export type NumberId = Id<'num'>;
export type MessageId = Id<'msg'>;
export type EventId = Id<'evt'>;
export type WebhookId = Id<'wh'>;
export type DeliveryId = Id<'dlv'>;
export type AttemptId = Id<'att'>;
export type DeviceId = Id<'dev'>;
export type DeviceSessionId = Id<'ses'>;
export type SetupLinkId = Id<'link'>;
export type AccountId = Id<'acc'>;
export type MemberId = Id<'usr'>;
export type InvitationId = Id<'inv'>;
export type AccountSessionId = Id<'acs'>;
export type PasskeyId = Id<'pky'>;
export type OptOutId = Id<'opt'>;
export type MailId = Id<'mail'>;
export type ContactId = Id<'con'>;
export type ConversationId = Id<'cnv'>;
export type MediaId = Id<'med'>;

/** Creates ids that sort by time and strictly increase within a process. */
export class Ids {
  readonly #clock: Clock;
  readonly #generator = new V7Generator(new RandomPool());

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param atMs the time in the id, for a caller that has just read the clock */
  next<P extends IdPrefix>(_prefix: P, atMs = this.#clock.nowMs()): Id<P> {
    return this.#generator.generateOrResetWithTs(atMs).toString() as Id<P>;
  }

  /** Creates a public id for something that is never stored, such as a request. */
  nextPublic(prefix: IdPrefix): string {
    return typeIdOfUuid(prefix, this.next(prefix));
  }
}

/** Cryptographic random numbers, drawn in bulk: a single draw costs more than the rest of an id. */
class RandomPool {
  readonly #numbers = new Uint32Array(1_024);
  #index = this.#numbers.length;

  nextUint32(): number {
    if (this.#index === this.#numbers.length) {
      randomFillSync(this.#numbers);
      this.#index = 0;
    }
    const number = this.#numbers[this.#index] ?? 0;
    this.#index += 1;
    return number;
  }
}

/** Formats an id as a public id, such as `msg_01h2xcejqtf2nbrexx3vqjhp41`. */
export function publicId<P extends IdPrefix>(prefix: P, id: Id<P>): string {
  return typeIdOfUuid(prefix, id);
}

/** Parses a public id. @returns undefined for a text that is not an id of this kind */
export function parseId<P extends IdPrefix>(prefix: P, text: string): Id<P> | undefined {
  return uuidOfTypeId(prefix, text) as Id<P> | undefined;
}

/** Greater than every id. The first page of a list that is newest first reads the ids below this value. */
export const idMax = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Reads the time in an id, to the millisecond. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** @returns the smallest UUIDv7 of a time: a lower bound of all later ids */
export function firstIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** @returns a bound above all ids of a time, to the millisecond, and below later ones */
export function firstIdAfter(time: Date): string {
  return firstIdAt(time.getTime() + 1);
}
