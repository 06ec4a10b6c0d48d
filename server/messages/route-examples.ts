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
  pageExamples,
  planLimitExample,
  refusal,
  success,
} from '#server/http/example.ts';

const content = 'Your table is ready.';
const body = { to: contact, from: number, content };

/** The message of the examples, as lists show it once it was delivered. */
export const exampleDelivered = {
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

export const exampleReply = {
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
  ...exampleDelivered,
  id: ids.failed,
  content: 'See you at seven.',
  status: 'failed',
  created_at: at('09:33:00'),
  delivered_at: null,
};

const picture = { ...body, content: 'The menu of today', media_url: 'https://media.example.com/menu.jpg' };

const uploaded = { ...body, content: 'The menu as a picture' };

/** The further fields of `GET /v1/messages/{id}` for a message that neither failed nor waits for a reason. */
const noDetails = {
  sent_at: null,
  failed_at: null,
  error_code: null,
  error_message: null,
  waiting_reason: null,
  expected_at: null,
  may_have_been_sent: false,
  contact_id: null,
};

export const sendMessageExamples: Examples = {
  text: success(
    'A text',
    { id: ids.message, status: 'queued', ...body, media_url: null, created_at: at('09:30:00') },
    { headers: { 'Idempotency-Key': 'order-1042-ready' }, body },
    202,
  ),
  picture: success(
    'A text with a picture',
    { id: exampleId('msg', 7), status: 'queued', ...picture, created_at: at('09:36:00') },
    { body: picture },
    202,
  ),
  file: success(
    'A text with an uploaded file',
    {
      ...{ id: exampleId('msg', 8), status: 'queued', ...uploaded, created_at: at('09:37:00') },
      media_url: `${exampleServer}/media/${exampleId('msg', 8)}/2nTq0kO7bAfr_xJv3WcZ5g/menu.png`,
    },
    { body: { ...uploaded, media_id: exampleId('med', 1) } },
    202,
  ),
  unknown_file: refusal(
    'A file that has expired',
    { body: { ...uploaded, media_id: ids.unknown('med') } },
    [
      400,
      'invalid_request',
      'The team has no file with this media_id; it may have expired. Upload the file again with POST /v1/media.',
    ],
    { param: 'media_id' },
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
  key_reused: refusal(
    'The Idempotency-Key of another request',
    { headers: { 'Idempotency-Key': 'order-1042-ready' }, body: { ...body, content: 'Your table is free.' } },
    [400, 'invalid_request', 'This Idempotency-Key was used for a request with other fields. Use a new one.'],
    { param: 'Idempotency-Key' },
  ),
  month_used_up: planLimitExample(
    'The messages of this month are used up',
    "The team's monthly limit, 100, is used up. Wait until 2026-12-01T00:00:00.000Z",
    { body },
    { limit: 100, resets_at: '2026-12-01T00:00:00.000Z' },
  ),
  media_not_in_plan: planLimitExample(
    'Media on the plan free',
    'Media need the plan starter or higher. Send without media_url',
    { body: { ...body, media_url: 'https://media.example.com/menu.jpg' } },
    { param: 'media_url', limit: 0 },
  ),
};

export const listMessagesExamples: Examples = {
  ...pageExamples('messages', [exampleReply, exampleDelivered], {
    newest: 'The newest messages',
    firstPage: 'The first page, with one message',
  }),
  replies: success(
    'Messages that a contact sent',
    { messages: [exampleReply], cursor: ids.reply, has_more: false },
    { query: { from: contact, direction: 'inbound' } },
  ),
};

export const searchMessagesExamples: Examples = {
  words: success(
    'Messages with two words',
    { messages: [exampleDelivered], cursor: ids.message, has_more: false },
    { query: { q: 'your tab' } },
  ),
  last_digits: success(
    'Messages with a contact, by the last digits of the phone number',
    { messages: [exampleReply], cursor: ids.reply, has_more: true },
    { query: { q: '0101', limit: 1 } },
  ),
  too_short: refusal(
    'No word is long enough',
    { query: { q: 'at 7' } },
    [
      400,
      'invalid_request',
      'q must have a word or a number of at least 3 characters; in Chinese, Japanese, Korean and scripts without spaces 2.',
    ],
    { param: 'q' },
  ),
};

/** An example of one message, with the fields that differ from `noDetails`. */
const detail = (
  summary: string,
  message: Readonly<Record<string, unknown>> & { readonly id: string },
  fields = {},
) => success(summary, { ...message, ...noDetails, ...fields }, { params: { id: message.id } });

export const getMessageExamples: Examples = {
  delivered: detail('A delivered message', exampleDelivered, { sent_at: at('09:30:02') }),
  queued: detail(
    'A message that waits, because its number is paused',
    {
      ...exampleDelivered,
      id: ids.waiting,
      content: 'We open at noon.',
      status: 'queued',
      created_at: at('09:35:00'),
      delivered_at: null,
    },
    { waiting_reason: 'number_paused' },
  ),
  failed: detail('A message that the phone could not send', failed, {
    failed_at: at('09:33:02'),
    error_code: 'device_error',
    error_message: 'The phone could not send the message. The phone said: no network',
  }),
  received: detail('A received message', exampleReply),
};

export const cancelMessageExamples: Examples = {
  cancelled: detail(
    'The message was still queued',
    { ...failed, id: ids.cancelled, content: 'Your table is almost ready.', created_at: at('09:32:00') },
    {
      failed_at: at('09:32:05'),
      error_code: 'cancelled',
      error_message: 'The message was cancelled before a phone picked it up.',
    },
  ),
  already_delivered: conflictExample(
    'The message is not queued any more',
    'Only a queued message can be cancelled; this one is delivered. Nothing was changed.',
    { params: { id: ids.message } },
  ),
};
