/**
 * What a change is of: everything that a team sees change without asking, each under one name. Of a message that is its
 * hand-outs too, of a number its phone and setup link, of a delivery its attempts.
 */
export const resourceTypes = [
  'team',
  'member',
  'invitation',
  'key',
  'number',
  'message',
  /** When it has its position in the feed. */
  'event',
  'webhook',
  'delivery',
  'usage',
  'audit',
] as const;
export type ResourceType = (typeof resourceTypes)[number];
