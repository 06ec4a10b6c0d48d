import {
  exampleTime as at,
  exampleContact as contact,
  exampleId,
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

const content = 'Your table is ready.';
const body = { to: contact, from: number, content };

/** The message of the examples, as lists show it once it was delivered. */
const delivered = {
  id: ids.message,
  to: contact,
  from: number,
  content,
  media_url: null,
  status: 'delivered',
  direction: 'outbound',
  created_at: at('09:30:00'),
  delivered_at: at('09:30:04'),
};

const reply = {
  id: ids.reply,
  to: number,
  from: contact,
  content: 'Yes, see you then',
  media_url: null,
  status: 'received',
  direction: 'inbound',
  created_at: at('09:31:00'),
  delivered_at: null,
};

const failed = {
  id: ids.failed,
  to: contact,
  from: number,
  content: 'See you at seven.',
  media_url: null,
  status: 'failed',
  direction: 'outbound',
  created_at: at('09:33:00'),
  delivered_at: null,
};

/** The further fields of `GET /v1/messages/{id}` for a message that neither failed nor waits for a reason. */
const noDetails = {
  sent_at: null,
  failed_at: null,
  error_code: null,
  error_message: null,
  waiting_reason: null,
  expected_at: null,
  may_have_been_sent: false,
};

const unknown = { params: { id: ids.unknown('msg') } };

export const sendMessageExamples: Examples = {
  text: {
    summary: 'A text',
    headers: { 'Idempotency-Key': 'order-1042-ready' },
    body,
    status: 202,
    answer: { id: ids.message, status: 'queued', ...body, media_url: null, created_at: at('09:30:00') },
  },
  picture: {
    summary: 'A text with a picture',
    body: { ...body, content: 'The menu of today', media_url: 'https://media.example.com/menu.jpg' },
    status: 202,
    answer: {
      id: exampleId('msg', 7),
      status: 'queued',
      to: contact,
      from: number,
      content: 'The menu of today',
      media_url: 'https://media.example.com/menu.jpg',
      created_at: at('09:36:00'),
    },
  },
  no_content: invalidExample('A required field is missing', 'content', 'content is required.', {
    body: { to: contact, from: number },
  }),
  misspelt_field: invalidExample(
    'A field that the operation does not have',
    'media',
    'media is not a field of this request. Known fields: to, from, content, media_url.',
    { body: { ...body, media: 'https://media.example.com/menu.jpg' } },
  ),
  bad_number: invalidExample(
    'A phone number that is not in E.164',
    'to',
    'to must be an E.164 phone number: +, country code and number, such as +14155550101.',
    { body: { ...body, to: '415 555 0101' } },
  ),
  to_is_from: invalidExample(
    'The recipient is the sender',
    'to',
    'to must be another number than from: a phone cannot answer itself.',
    { body: { ...body, to: number } },
  ),
  empty_content: invalidExample(
    'A text without a visible character',
    'content',
    'content must hold 1 to 5000 characters, and at least one visible character: white space, invisible and control characters alone make an empty bubble. Send a text that can be seen.',
    { body: { ...body, content: ' ' } },
  ),
  unknown_from: invalidExample(
    'The sender is not a number of the team',
    'from',
    '+14155550199 is not a number of this team. Connect it with POST /v1/numbers/verify.',
    { body: { ...body, from: '+14155550199' } },
  ),
  pending_from: invalidExample(
    'The sender’s iPhone is not connected yet',
    'from',
    `${number} is not verified yet: open its setup link on the iPhone and run the shortcut once. A simulated iPhone is verified within seconds: try again.`,
    { body },
  ),
  paused_from: invalidExample(
    'The sender is paused',
    'from',
    `${number} is paused. Set its status to active with PUT /v1/numbers/:id.`,
    { body },
  ),
  opted_out: refusal(
    'The recipient opted out',
    { body },
    [
      400,
      'invalid_request',
      `${contact} opted out of this team on ${at('09:34:00')} with the message ${ids.stop} to ${number}. Send them nothing until they text START, or until you have their consent in another way and call DELETE /v1/opt-outs/%2B14155550101.`,
    ],
    { param: 'to', opted_out_at: at('09:34:00') },
  ),
  key_reused: invalidExample(
    'The Idempotency-Key of another request',
    'Idempotency-Key',
    'This Idempotency-Key was used for a request with other fields. Use a new one.',
    { headers: { 'Idempotency-Key': 'order-1042-ready' }, body: { ...body, content: 'Your table is free.' } },
  ),
  plain_http_media: invalidExample(
    'A media URL without https',
    'media_url',
    'The URL has to begin with https://. Only literal addresses inside EGRESS_ALLOW_CIDRS may begin with http://, such as http://127.0.0.1:8080.',
    {
      body: { ...body, media_url: 'http://media.example.com/menu.jpg' },
    },
  ),
  month_used_up: refusal(
    'The messages of this month are used up',
    { body },
    [
      402,
      'plan_limit_exceeded',
      `The team's monthly limit, 100, is used up. Wait until 2026-12-01T00:00:00.000Z, or see ${exampleServer}/billing for a larger plan.`,
    ],
    {
      limit: 100,
      current: 100,
      upgrade_url: `${exampleServer}/billing`,
      resets_at: '2026-12-01T00:00:00.000Z',
    },
  ),
  media_not_in_plan: refusal(
    'Media on the plan free',
    { body: { ...body, media_url: 'https://media.example.com/menu.jpg' } },
    [
      402,
      'plan_limit_exceeded',
      `Media need the plan starter or higher. Send without media_url, or see ${exampleServer}/billing for a larger plan.`,
    ],
    { param: 'media_url', limit: 0, current: 0, upgrade_url: `${exampleServer}/billing` },
  ),
};

export const listMessagesExamples: Examples = {
  newest: {
    summary: 'The newest messages',
    status: 200,
    answer: { messages: [reply, delivered], cursor: delivered.id, has_more: false },
  },
  first_page: {
    summary: 'The first page, with one message',
    query: { limit: 1 },
    status: 200,
    answer: { messages: [reply], cursor: reply.id, has_more: true },
  },
  next_page: {
    summary: 'The next page, which is the last',
    query: { limit: 1, cursor: reply.id },
    status: 200,
    answer: { messages: [delivered], cursor: delivered.id, has_more: false },
  },
  replies: {
    summary: 'Messages that a contact sent',
    query: { from: contact, direction: 'inbound' },
    status: 200,
    answer: { messages: [reply], cursor: ids.reply, has_more: false },
  },
  unencoded_plus: invalidExample(
    'A + that is not percent-encoded',
    'from',
    'from has a space in it. Write a + in the query string as %2B.',
    { query: { from: ' 14155550101' } },
  ),
  unknown_status: invalidExample(
    'A filter with a value that it does not have',
    'status',
    'status must be one of: queued, polling, sent, delivered, failed, received.',
    { query: { status: 'pending' } },
  ),
  limit_too_high: invalidExample(
    'A page that is too large',
    'limit',
    'limit must be a whole number from 1 to 100.',
    {
      query: { limit: 500 },
    },
  ),
};

export const getMessageExamples: Examples = {
  delivered: {
    summary: 'A delivered message',
    params: { id: ids.message },
    status: 200,
    answer: { ...delivered, ...noDetails, sent_at: at('09:30:02') },
  },
  queued: {
    summary: 'A message that waits, because its number is paused',
    params: { id: ids.waiting },
    status: 200,
    answer: {
      ...delivered,
      id: ids.waiting,
      content: 'We open at noon.',
      status: 'queued',
      created_at: at('09:35:00'),
      delivered_at: null,
      ...noDetails,
      waiting_reason: 'number_paused',
    },
  },
  failed: {
    summary: 'A message that the phone could not send',
    params: { id: ids.failed },
    status: 200,
    answer: {
      ...failed,
      ...noDetails,
      failed_at: at('09:33:02'),
      error_code: 'device_error',
      error_message: 'The phone could not send the message. The phone said: no network',
    },
  },
  received: {
    summary: 'A received message',
    params: { id: ids.reply },
    status: 200,
    answer: { ...reply, ...noDetails },
  },
  unknown_parameter: unknownParameterExample({ params: { id: ids.message } }),
  unknown: notFoundExample('message', unknown),
};

export const cancelMessageExamples: Examples = {
  cancelled: {
    summary: 'The message was still queued',
    params: { id: ids.cancelled },
    status: 200,
    answer: {
      ...delivered,
      id: ids.cancelled,
      content: 'Your table is almost ready.',
      status: 'failed',
      created_at: at('09:32:00'),
      delivered_at: null,
      ...noDetails,
      failed_at: at('09:32:05'),
      error_code: 'cancelled',
      error_message: 'The message was cancelled before a phone picked it up.',
    },
  },
  unknown_field: invalidExample(
    'A field, though the operation takes none',
    'reason',
    'reason is not a field of this request. It takes none.',
    { params: { id: ids.cancelled }, body: { reason: 'sold out' } },
  ),
  unknown: notFoundExample('message', unknown),
  already_delivered: conflictExample(
    'The message is not queued any more',
    'Only a queued message can be cancelled; this one is delivered. Nothing was changed.',
    { params: { id: ids.message } },
  ),
};
