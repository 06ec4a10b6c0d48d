import { eventExamples } from '#contract/event-examples.ts';
import {
  exampleTime as at,
  exampleId,
  exampleReceiver,
  exampleIds as ids,
} from '#contract/example-values.ts';
import { conflictExample, type Examples } from '#server/http/example.ts';

const own = { params: { id: ids.webhook } };
const ownDelivery = { params: { id: ids.webhook, delivery_id: ids.delivery } };

const delivery = {
  id: ids.delivery,
  webhook_id: ids.webhook,
  event_id: eventExamples['message.sent'].id,
  event_type: 'message.sent',
  test: false,
  status: 'succeeded',
  attempt_count: 1,
  next_attempt_at: null,
  created_at: at('09:30:02'),
  finished_at: at('09:30:02'),
};
const skipped = {
  id: exampleId('dlv', 3),
  webhook_id: ids.webhook,
  event_id: eventExamples['message.failed'].id,
  event_type: 'message.failed',
  test: false,
  status: 'skipped',
  attempt_count: 0,
  next_attempt_at: null,
  created_at: at('09:33:02'),
  finished_at: at('09:33:02'),
};

export const listDeliveriesExamples: Examples = {
  of_one_type: {
    summary: 'The deliveries of one type of event',
    ...own,
    query: { event_type: 'message.sent' },
    status: 200,
    answer: { deliveries: [delivery], cursor: delivery.id, has_more: false },
  },
  skipped: {
    summary: 'Deliveries that a webhook missed while it was off',
    ...own,
    query: { status: 'skipped' },
    status: 200,
    answer: { deliveries: [skipped], cursor: skipped.id, has_more: false },
  },
};

export const getDeliveryExamples: Examples = {
  succeeded: {
    summary: 'A delivery that the receiver took at once',
    ...ownDelivery,
    status: 200,
    answer: {
      ...delivery,
      attempts: [
        {
          id: exampleId('att', 1),
          started_at: at('09:30:02'),
          duration_ms: 38,
          outcome: 'succeeded',
          error_message: null,
          status_code: 200,
          url: exampleReceiver,
          response_body: 'ok',
          response_truncated: false,
        },
      ],
    },
  },
};

export const redeliverExamples: Examples = {
  queued: {
    summary: 'One attempt follows',
    ...ownDelivery,
    status: 202,
    answer: {
      ...delivery,
      status: 'pending',
      next_attempt_at: at('09:42:00'),
      finished_at: null,
    },
  },
  test: conflictExample(
    'The delivery was a test',
    'This delivery was a test, whose sample event is not stored. Send another with POST /v1/webhooks/:id/test.',
    { params: { id: ids.webhook, delivery_id: exampleId('dlv', 2) } },
  ),
};

export const replayExamples: Examples = {
  missed: {
    summary: 'Everything that the webhook missed since a time',
    ...own,
    body: { since: at('09:32:00'), only: 'all' },
    status: 202,
    answer: { queued: 1 },
  },
  switched_off: conflictExample(
    'The webhook is off',
    'This webhook is switched off. Switch it on with PUT /v1/webhooks/:id and active true, then replay.',
    { ...own, body: { since: at('09:32:00'), only: 'all' } },
  ),
};

export const testWebhookExamples: Examples = {
  queued: {
    summary: 'One attempt with a sample follows',
    ...own,
    status: 202,
    answer: {
      ...delivery,
      id: exampleId('dlv', 2),
      event_id: exampleId('evt', 20),
      event_type: 'message.received',
      test: true,
      status: 'pending',
      attempt_count: 0,
      next_attempt_at: at('09:11:00'),
      created_at: at('09:11:00'),
      finished_at: null,
    },
  },
};
