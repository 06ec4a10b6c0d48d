import {
  exampleTime as at,
  exampleReceiver,
  exampleIds as ids,
  exampleNumber as number,
} from '#contract/example-values.ts';
import { conflictExample, type Examples, planLimitExample } from '#server/http/example.ts';

const own = { params: { id: ids.webhook } };
const events = ['message.received', 'message.sent', 'message.delivered', 'message.failed'];
const body = { url: exampleReceiver, events };

const created = {
  id: ids.webhook,
  url: exampleReceiver,
  events,
  phone_number: null,
  active: true,
  created_at: at('09:10:00'),
};
const webhook = {
  ...created,
  failure_count: 0,
  last_triggered_at: at('09:31:00'),
  next_secret_takes_over_at: null,
};

export const createWebhookExamples: Examples = {
  messages: {
    summary: 'A webhook for all messages',
    body,
    status: 201,
    answer: { ...created, secret: 'whsec_bm90IGEgcmVhbCBzZWNyZXQsIDMyIGJ5dGVzIGxvbmc=' },
  },
  plan_limit: planLimitExample(
    'The plan allows no further webhook',
    'The plan free allows 5 webhooks. Delete one',
    { body },
    { limit: 5 },
  ),
};

export const listWebhooksExamples: Examples = {
  one: { summary: 'A team with one webhook', status: 200, answer: { webhooks: [webhook] } },
};

export const getWebhookExamples: Examples = {
  active: { summary: 'A webhook that is on', ...own, status: 200, answer: webhook },
};

export const updateWebhookExamples: Examples = {
  switch_off: {
    summary: 'Switch the webhook off',
    ...own,
    body: { active: false },
    status: 200,
    answer: { ...webhook, active: false },
  },
  switch_on: {
    summary: 'Switch the webhook on',
    ...own,
    body: { active: true },
    status: 200,
    answer: webhook,
  },
  one_number: {
    summary: 'Only events of one number',
    ...own,
    body: { phone_number: number },
    status: 200,
    answer: { ...webhook, phone_number: number },
  },
};

export const deleteWebhookExamples: Examples = {
  deleted: { summary: 'The webhook is deleted', ...own, status: 200, answer: { deleted: true } },
};

export const rotateSecretExamples: Examples = {
  started: {
    summary: 'The next secret',
    ...own,
    status: 200,
    answer: {
      id: ids.webhook,
      secret: 'whsec_YWxzbyBub3QgYSByZWFsIHNlY3JldCwgMzIgYnl0ZXM=',
      takes_over_at: '2026-11-22T10:00:00.000Z',
    },
  },
  already_started: conflictExample(
    'A rotation is in progress',
    'A rotation of this secret is already in progress. Finish it with POST /v1/webhooks/:id/rotate-secret/finish, then start another.',
    own,
  ),
};

export const finishRotationExamples: Examples = {
  finished: { summary: 'Only the next secret signs', ...own, status: 200, answer: webhook },
  none_started: conflictExample(
    'No rotation is in progress',
    'No rotation of the secret is in progress: it was finished, or its 24 hours are over. Start one with POST /v1/webhooks/:id/rotate-secret.',
    own,
  ),
};
