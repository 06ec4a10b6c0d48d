import { type SearchedMessage, tokensOf, wordsOfMessage } from './parse-search.ts';

/** Bits of a signature for each token, which sets five. A hundredth of other tokens then seem to be in it. */
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
  const [words, tokens] = [new Set<string>(), new Set<number>()];
  let count = 0;
  for (const message of messages.slice(0, segmentMessagesMax)) {
    const others = wordsOfMessage(message).filter((word) => !words.has(word));
    const added = others.flatMap(tokensOf).filter((token) => !tokens.has(token));
    if (count > 0 && tokens.size + added.length > tokensMax) break;
    for (const word of others) words.add(word);
    for (const token of added) tokens.add(token);
    count += 1;
  }
  return { count, signature: sign(tokens) };
}

/** Signs the messages of a segment that lost texts. */
export function signAgain(messages: readonly SearchedMessage[]): Buffer {
  return sign(new Set(messages.flatMap(wordsOfMessage).flatMap(tokensOf)));
}

function sign(tokens: ReadonlySet<number>): Buffer {
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

/** Hashes of a token: modulo the number of bits of a signature they are the bits that the token sets. */
export function hashesOf(token: number): number[] {
  const [first, step] = [mix(token), mix(token ^ 0x9e3779b9)];
  return [first, first + step, first + 2 * step, first + 3 * step, first + 4 * step];
}

/** The end of MurmurHash3: each bit of the result depends on each bit of the value. */
function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
