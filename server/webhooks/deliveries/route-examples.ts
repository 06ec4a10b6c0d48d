import { eventExamples } from '#contract/event-examples.ts';
import {
  exampleTime as at,
  exampleId,
  exampleReceiver,
  exampleIds as ids,
} from '#contract/example-values.ts';
import { conflictExample, type Examples, success } from '#server/http/example.ts';

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
  ...delivery,
  id: exampleId('dlv', 3),
  event_id: eventExamples['message.failed'].id,
  event_type: 'message.failed',
  status: 'skipped',
  attempt_count: 0,
  created_at: at('09:33:02'),
  finished_at: at('09:33:02'),
};

/** An example of a page with one delivery. */
const page = (summary: string, only: typeof delivery, query: Readonly<Record<string, string>>) =>
  success(summary, { deliveries: [only], cursor: only.id, has_more: false }, { ...own, query });

export const listDeliveriesExamples: Examples = {
  of_one_type: page('The deliveries of one type of event', delivery, { event_type: 'message.sent' }),
  skipped: page('Deliveries that a webhook missed while it was off', skipped, { status: 'skipped' }),
};

const attempt = {
  id: exampleId('att', 1),
  started_at: at('09:30:02'),
  duration_ms: 38,
  outcome: 'succeeded',
  error_message: null,
  status_code: 200,
  url: exampleReceiver,
  response_body: 'ok',
  response_truncated: false,
};

export const getDeliveryExamples: Examples = {
  succeeded: success(
    'A delivery that the receiver took at once',
    { ...delivery, attempts: [attempt] },
    ownDelivery,
  ),
};

const pending = { ...delivery, status: 'pending', finished_at: null };

export const redeliverExamples: Examples = {
  queued: success('One attempt follows', { ...pending, next_attempt_at: at('09:42:00') }, ownDelivery, 202),
  test: conflictExample(
    'The delivery was a test',
    'This delivery was a test, whose sample event is not stored. Send another with POST /v1/webhooks/:id/test.',
    { params: { id: ids.webhook, delivery_id: exampleId('dlv', 2) } },
  ),
};

const replay = { ...own, body: { since: at('09:32:00'), only: 'all' } };

export const replayExamples: Examples = {
  missed: success('Everything that the webhook missed since a time', { queued: 1 }, replay, 202),
  switched_off: conflictExample(
    'The webhook is off',
    'This webhook is switched off. Switch it on with PUT /v1/webhooks/:id and active true, then replay.',
    replay,
  ),
};

export const testWebhookExamples: Examples = {
  queued: success(
    'One attempt with a sample follows',
    {
      ...pending,
      id: exampleId('dlv', 2),
      event_id: exampleId('evt', 20),
      event_type: 'message.received',
      test: true,
      attempt_count: 0,
      next_attempt_at: at('09:11:00'),
      created_at: at('09:11:00'),
    },
    own,
    202,
  ),
};
