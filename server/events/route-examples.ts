import { eventExamples } from '#contract/event-examples.ts';
import { exampleIds as ids } from '#contract/example-values.ts';
import type { Examples } from '#server/http/example.ts';

const { 'message.sent': sent, 'message.delivered': delivered, 'message.received': received } = eventExamples;

export const listEventsExamples: Examples = {
  oldest: {
    summary: 'The oldest events',
    status: 200,
    answer: { events: [sent, delivered, received], cursor: received.id, has_more: false, gap: false },
  },
  first_page: {
    summary: 'The first page, with two events',
    query: { limit: 2 },
    status: 200,
    answer: { events: [sent, delivered], cursor: delivered.id, has_more: true, gap: false },
  },
  next: {
    summary: 'The events after a cursor, with a wait of up to 25 seconds for the next one',
    query: { after: delivered.id, wait: 25 },
    status: 200,
    answer: { events: [received], cursor: received.id, has_more: false, gap: false },
  },
  none: {
    summary: 'No new event',
    query: { after: received.id },
    status: 200,
    answer: { events: [], cursor: received.id, has_more: false, gap: false },
  },
  gap: {
    summary: 'After an unknown id, which stands for its time: another event may be missing',
    query: { after: ids.unknown('evt') },
    status: 200,
    answer: { events: [sent, delivered, received], cursor: received.id, has_more: false, gap: true },
  },
};
