import type { EventType } from '#contract/event.ts';

/** The plans that have events of a type. The order is that of the form. */
export const eventPlans: Readonly<Record<EventType, 'all' | 'standard'>> = {
  'message.received': 'all',
  'message.sent': 'all',
  'message.delivered': 'standard',
  'message.failed': 'all',
  'contact.opted_out': 'all',
  'contact.opted_in': 'all',
  'number.offline': 'all',
  'number.online': 'all',
};

export const eventTypes = Object.keys(eventPlans) as EventType[];
