/**
 * Resource types of changes: everything that a team sees change without a request, each under one name. The type
 * message includes its hand-outs, number its phone and setup link, delivery its attempts.
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
  'opt_out',
  'webhook',
  'delivery',
  'usage',
  'audit',
] as const;
export type ResourceType = (typeof resourceTypes)[number];
