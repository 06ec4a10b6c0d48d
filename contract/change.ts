/**
 * Resource types whose changes the dashboard follows. `message` includes hand-outs, `delivery` attempts, `number`
 * phones.
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
  'contact',
  'webhook',
  'delivery',
  'usage',
  'audit',
] as const;
export type ResourceType = (typeof resourceTypes)[number];
