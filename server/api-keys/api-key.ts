import { checksum, randomBase62 } from '#server/platform/crypto.ts';

const shape = /^own_(?:live|test)_([a-z0-9]{4}[0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/**
 * Generates an API key (specification section 5.1): prefix, routing tag, 32 random base62 characters and a checksum of 6.
 * The checksum covers tag and random characters.
 */
export function newApiKey(routingTag: string, mode: 'live' | 'test' = 'live'): string {
  const body = `${routingTag}${randomBase62(32)}`;
  return `own_${mode}_${body}${checksum(body)}`;
}

/** Whether a text has the form and checksum of an API key. Any other text is refused without a query. */
export function isWellFormedKey(text: string): boolean {
  const parts = shape.exec(text);
  return parts?.[1] !== undefined && checksum(parts[1]) === parts[2];
}
