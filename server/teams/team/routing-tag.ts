import { randomInt } from 'node:crypto';

/**
 * Generates a routing tag: 4 random characters of a-z and 0-9, valid as a label of a host name (specification section
 * 5.5). One character is a digit, so that no tag is a word or an ordinary host name such as `mail`.
 */
export function newRoutingTag(): string {
  const tag = Array.from({ length: 4 }, () => randomInt(36).toString(36)).join('');
  return /\d/.test(tag) ? tag : newRoutingTag();
}
