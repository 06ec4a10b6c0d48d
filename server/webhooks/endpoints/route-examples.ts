import {
  exampleTime as at,
  exampleReceiver,
  exampleServer,
  exampleIds as ids,
  exampleNumber as number,
} from '#contract/example-values.ts';
import {
  conflictExample,
  type Examples,
  invalidExample,
  notFoundExample,
  refusal,
  unknownParameterExample,
} from '#server/platform/http/example.ts';

const own = { params: { id: ids.webhook } };
const unknown = { params: { id: ids.unknown('wh') } };
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
  no_events: invalidExample(
    'No type of event',
    'events',
    'events must have at least 1 entry, of: message.received, message.sent, message.delivered, message.failed, contact.opted_out, contact.opted_in, number.offline, number.online.',
    { body: { ...body, events: [] } },
  ),
  private_address: invalidExample(
    'An address of a private network',
    'url',
    'The URL points at 192.168.0.10, a private, local or reserved address. Use one on the public internet, or ask the operator of Ownline to allow its range with EGRESS_ALLOW_CIDRS.',
    {
      body: { ...body, url: 'https://192.168.0.10/hooks' },
    },
  ),
  unknown_number: invalidExample(
    'A number that the team does not have',
    'phone_number',
    '+14155550199 is not a number of this team. Connect it first, or send null for the events of all numbers.',
    { body: { ...body, phone_number: '+14155550199' } },
  ),
  plan_limit: refusal(
    'The plan allows no further webhook',
    { body },
    [
      402,
      'plan_limit_exceeded',
      `The plan free allows 5 webhooks. Delete one, or see ${exampleServer}/billing for a larger plan.`,
    ],
    {
      limit: 5,
      current: 5,
      upgrade_url: `${exampleServer}/billing`,
    },
  ),
};

export const listWebhooksExamples: Examples = {
  one: { summary: 'A team with one webhook', status: 200, answer: { webhooks: [webhook] } },
  unknown_parameter: unknownParameterExample(),
};

export const getWebhookExamples: Examples = {
  active: { summary: 'A webhook that is on', ...own, status: 200, answer: webhook },
  unknown_parameter: unknownParameterExample(own),
  unknown: notFoundExample('webhook', unknown),
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
  plain_http: invalidExample(
    'A URL without https',
    'url',
    'The URL has to begin with https://. Only literal addresses inside EGRESS_ALLOW_CIDRS may begin with http://, such as http://127.0.0.1:8080.',
    {
      ...own,
      body: { url: 'http://example.com/hooks/ownline' },
    },
  ),
  unknown: notFoundExample('webhook', { ...unknown, body: { active: true } }),
};

export const deleteWebhookExamples: Examples = {
  deleted: { summary: 'The webhook is deleted', ...own, status: 200, answer: { deleted: true } },
  unknown_parameter: unknownParameterExample(own),
  unknown: notFoundExample('webhook', unknown),
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
  unknown_parameter: unknownParameterExample(own),
  unknown: notFoundExample('webhook', unknown),
  already_started: conflictExample(
    'A rotation is in progress',
    'A rotation of this secret is already in progress. Finish it with POST /v1/webhooks/:id/rotate-secret/finish, then start another.',
    own,
  ),
};

export const finishRotationExamples: Examples = {
  finished: { summary: 'Only the next secret signs', ...own, status: 200, answer: webhook },
  unknown_parameter: unknownParameterExample(own),
  unknown: notFoundExample('webhook', unknown),
  none_started: conflictExample(
    'No rotation is in progress',
    'No rotation of the secret is in progress: it was finished, or its 24 hours are over. Start one with POST /v1/webhooks/:id/rotate-secret.',
    own,
  ),
};
