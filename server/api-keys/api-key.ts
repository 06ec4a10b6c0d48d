import { checksum, randomBase62 } from '#server/platform/crypto.ts';

const shape = /^own_(?:live|test)_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** Generates an API key: prefix, 32 random base62 characters, and 6 for their CRC-32 (specification section 5.1). */
export function newApiKey(mode: 'live' | 'test' = 'live'): string {
  const random = randomBase62(32);
  return `own_${mode}_${random}${checksum(random)}`;
}

/** Whether a text has the form and checksum of an API key. Any other text is refused without a query. */
export function isWellFormedKey(text: string): boolean {
  const parts = shape.exec(text);
  return parts?.[1] !== undefined && checksum(parts[1]) === parts[2];
}
