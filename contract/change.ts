/**
 * Resource types whose changes the dashboard follows live. A change of a message includes its hand-outs, of a number
 * its phone and setup link, of a delivery its attempts.
 */
export const resourceTypes = [
  'team',
  'member',
  'invitation',
  'key',
  'number',
  'message',
  /** An event is notified once it has its position in the feed. */
  'event',
  'opt_out',
  'webhook',
  'delivery',
  'usage',
  'audit',
] as const;
export type ResourceType = (typeof resourceTypes)[number];
