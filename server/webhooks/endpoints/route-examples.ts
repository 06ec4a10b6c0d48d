import {
  exampleTime as at,
  exampleReceiver,
  exampleIds as ids,
  exampleNumber as number,
} from '#contract/example-values.ts';
import { conflictExample, type Examples, planLimitExample, success } from '#server/http/example.ts';

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
  messages: success(
    'A webhook for all messages',
    { ...created, secret: 'whsec_bm90IGEgcmVhbCBzZWNyZXQsIDMyIGJ5dGVzIGxvbmc=' },
    { body },
    201,
  ),
  plan_limit: planLimitExample(
    'The plan allows no further webhook',
    'The plan free allows 5 webhooks. Delete one',
    { body },
    { limit: 5 },
  ),
};

export const listWebhooksExamples: Examples = {
  one: success('A team with one webhook', { webhooks: [webhook] }),
};

export const getWebhookExamples: Examples = { active: success('A webhook that is on', webhook, own) };

/** An example of a change of fields. */
const changed = (summary: string, fields: Readonly<Record<string, unknown>>) =>
  success(summary, { ...webhook, ...fields }, { ...own, body: fields });

export const updateWebhookExamples: Examples = {
  switch_off: changed('Switch the webhook off', { active: false }),
  switch_on: changed('Switch the webhook on', { active: true }),
  one_number: changed('Only events of one number', { phone_number: number }),
};

export const deleteWebhookExamples: Examples = {
  deleted: success('The webhook is deleted', { deleted: true }, own),
};

export const rotateSecretExamples: Examples = {
  started: success(
    'The next secret',
    {
      id: ids.webhook,
      secret: 'whsec_YWxzbyBub3QgYSByZWFsIHNlY3JldCwgMzIgYnl0ZXM=',
      takes_over_at: '2026-11-22T10:00:00.000Z',
    },
    own,
  ),
  already_started: conflictExample(
    'A rotation is in progress',
    'A rotation of this secret is already in progress. Finish it with POST /v1/webhooks/:id/rotate-secret/finish, then start another.',
    own,
  ),
};

export const finishRotationExamples: Examples = {
  finished: success('Only the next secret signs', webhook, own),
  none_started: conflictExample(
    'No rotation is in progress',
    'No rotation of the secret is in progress: it was finished, or its 24 hours are over. Start one with POST /v1/webhooks/:id/rotate-secret.',
    own,
  ),
};
