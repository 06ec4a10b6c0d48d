import type { EventType } from '#contract/event.ts';

/** Event types in the order of the form, each with its occasion. */
export const eventTexts: Readonly<Record<EventType, string>> = {
  'message.received': 'A contact wrote to a number of the team.',
  'message.sent': 'An iPhone sent a message.',
  'message.delivered': 'A message arrived. An iPhone with the shortcuts can’t report that.',
  'message.failed': 'A message failed, with the reason.',
  'contact.opted_out': 'A contact asked to get no more messages.',
  'contact.opted_in': 'A contact allowed messages again.',
  'number.offline': 'An iPhone stopped asking for messages.',
  'number.online': 'An iPhone that was offline asks for messages again.',
};

export const eventTypes = Object.keys(eventTexts) as EventType[];
