import { eventExamples } from '#contract/event-examples.ts';
import { exampleIds as ids } from '#contract/example-values.ts';
import { type Examples, success } from '#server/http/example.ts';

const { 'message.sent': sent, 'message.delivered': delivered, 'message.received': received } = eventExamples;

const page = (
  events: readonly { readonly id: string }[],
  rest: { has_more?: boolean; gap?: boolean } = {},
) => ({
  ...{ events, cursor: events.at(-1)?.id ?? received.id, has_more: false, gap: false },
  ...rest,
});

export const listEventsExamples: Examples = {
  oldest: success('The oldest events', page([sent, delivered, received])),
  first_page: success('The first page, with two events', page([sent, delivered], { has_more: true }), {
    query: { limit: 2 },
  }),
  next: success(
    'The events after a cursor, with a wait of up to 25 seconds for the next one',
    page([received]),
    { query: { after: delivered.id, wait: 25 } },
  ),
  none: success('No new event', page([]), { query: { after: received.id } }),
  gap: success(
    'After an unknown id, which stands for its time: another event may be missing',
    page([sent, delivered, received], { gap: true }),
    { query: { after: ids.unknown('evt') } },
  ),
};
