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

/** Formats the 16 bytes of a UUID, like `typeIdOfUuid`. */
export function typeIdOfBytes(prefix: string, bytes: Uint8Array): string {
  let text = `${prefix}_`;
  let bits = 0;
  let count = 2;
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    count += 8;
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
