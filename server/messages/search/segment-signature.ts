import { type SearchedMessage, tokensOfMessage } from './parse-search.ts';

/** Bits that a token sets, and bits for each token of a signature. A hundredth of other tokens then seem to be in it. */
const hashes = 5;
const bitsPerToken = 10;

/** A signature has at most 4,000 bytes, so that a page of PostgreSQL has two rows. */
const tokensMax = 3_200;

/** The most messages of a segment. */
export const segmentMessagesMax = 256;

/**
 * Takes the messages of the next segment: as many as have room in one signature, and at least one.
 * @returns their number, and the signature: a Bloom filter of their tokens (decision 0061)
 */
export function takeSegment(messages: readonly SearchedMessage[]): {
  readonly count: number;
  readonly signature: Buffer;
} {
  const tokens = new Set<string>();
  let count = 0;
  for (const message of messages.slice(0, segmentMessagesMax)) {
    const added = tokensOfMessage(message).filter((token) => !tokens.has(token));
    if (count > 0 && tokens.size + added.length > tokensMax) break;
    for (const token of added) tokens.add(token);
    count += 1;
  }
  return { count, signature: sign(tokens) };
}

/** Signs the tokens of a segment that lost texts. */
export function signAgain(messages: readonly SearchedMessage[]): Buffer {
  return sign(new Set(messages.flatMap(tokensOfMessage)));
}

function sign(tokens: ReadonlySet<string>): Buffer {
  const bytes = Math.ceil((Math.min(tokens.size, tokensMax) * bitsPerToken) / 8);
  const signature = Buffer.alloc(Math.max(1, bytes));
  for (const token of tokens) {
    for (const hash of hashesOf(token)) {
      const bit = hash % (signature.length * 8);
      signature[bit >> 3] = (signature[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
  }
  return signature;
}

/** The hashes of a token: modulo the number of bits of a signature they are the bits that the token sets. */
export function hashesOf(token: string): number[] {
  let hash = 0x811c9dc5;
  for (let index = 0; index < token.length; index += 1)
    hash = Math.imul(hash ^ token.charCodeAt(index), 0x01000193);
  const [first, step] = [mix(hash), mix(hash ^ 0x9e3779b9)];
  return Array.from({ length: hashes }, (_, index) => first + index * step);
}

/** The end of MurmurHash3: each bit of the result depends on each bit of the value. */
function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
